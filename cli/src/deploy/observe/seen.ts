import type { Evidence } from '../analysis/evidence.ts';
import type { GuardReading } from '../analysis/guards.ts';
import type { Guard } from '../analysis/plan.ts';
import type { Arms } from '../analysis/weights.ts';

/** What is seen in one look. */
export interface Seen {
  /** Outcomes since the look before. */
  readonly evidence: readonly Evidence[];
  /** One of each guard of the plan. */
  readonly guards: readonly GuardReading[];
  /** Why the outcomes are not all of them. */
  readonly missing: readonly string[];
  readonly slowAboveS?: number;
}

/** Watches one canary. What it cannot see is missing, or unknown; it does not reject. */
export interface CanaryObserver {
  /** Before anything is changed: what fails from now until `start` is what the rollout is compared with. */
  begin(): Promise<void>;
  /** From here on outcomes count. */
  start(arms: Arms): Promise<void>;
  /** Instances joined, or left. */
  arms(arms: Arms): void;
  look(at: number): Promise<Seen>;
  /** Ends what it does in the background. */
  stop(): void;
}

export const reads =
  (guard: Guard, at: number) =>
  (state: GuardReading['state'], detail: string): GuardReading => ({ guard, at, state, detail });
