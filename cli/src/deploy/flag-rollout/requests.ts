import type { Asked } from '../../platform/change-log.ts';
import type { Verdict } from '../analysis/evaluate.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import type { RolloutEnd } from './rollout.ts';

/** What `flags rollout` asks for. */
export interface FlagRolloutRequest {
  readonly flag: string;
  readonly plan: CanaryPlan;
  readonly asked: Asked;
  /** Faults may be active. */
  readonly duringChaos?: boolean;
  /** The orders may be too few for the plan. */
  readonly force?: boolean;
}

/** A rollout without its lines. */
export interface FlagRolloutSummary {
  readonly id: string;
  readonly flag: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly isOver: boolean;
  readonly end: RolloutEnd | null;
  /** What happened last, or why it ended. */
  readonly text: string;
  /** For how many of the orders it was on last. */
  readonly percent: number;
  readonly on: Verdict['canary'];
  readonly off: Verdict['stable'];
}
