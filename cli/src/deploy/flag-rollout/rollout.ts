import type { FlagDefinition } from '@shop/kit/flag-file.ts';
import type { Asked } from '../../platform/change-log.ts';
import { withPercent, withValue } from '../../platform/flag-state.ts';
import { evaluate, type Verdict } from '../analysis/evaluate.ts';
import type { Evidence } from '../analysis/evidence.ts';
import type { GuardReading, Level } from '../analysis/guards.ts';
import type { CanaryPlan } from '../analysis/plan.ts';

/**
 * `overridden`: another command changed the flag, which stays as that has it. After `rolled-back` and `inconclusive` it is as it
 * was before.
 */
export type RolloutEnd = 'promoted' | 'rolled-back' | 'inconclusive' | 'overridden';

/** What was seen in one look. */
export interface Look {
  /** ms since 1970. */
  readonly at: number;
  readonly evidence: readonly Evidence[];
  readonly guards: readonly GuardReading[];
  /** Why the outcomes are not all of them; empty where they are. */
  readonly missing: readonly string[];
}

/** One line of the journal. */
export type RolloutRecord = { readonly time: string; readonly run: string } & (
  | {
      readonly kind: 'planned';
      readonly flag: string;
      readonly plan: CanaryPlan;
      /** What the flag was, to be it again. */
      readonly before: FlagDefinition;
      /** Outcomes of before. */
      readonly level: Level;
      readonly asked: Asked;
    }
  /** The next step is in force from now on. */
  | { readonly kind: 'step' }
  | ({ readonly kind: 'look' } & Look)
  /** On disk before the flag is written. */
  | { readonly kind: 'decided'; readonly end: RolloutEnd; readonly text: string }
  | { readonly kind: 'ended' }
);

/** A rollout, as its journal has it. */
export interface FlagRollout {
  readonly id: string;
  readonly flag: string;
  readonly plan: CanaryPlan;
  readonly before: FlagDefinition;
  readonly level: Level;
  readonly asked: Asked;
  /** ISO time. */
  readonly startedAt: string;
  /** ms since 1970. */
  readonly stepsBegan: readonly number[];
  readonly evidence: readonly Evidence[];
  readonly guards: readonly GuardReading[];
  readonly readAt: number | undefined;
  readonly end?: RolloutEnd;
  /** Why. */
  readonly text?: string;
  readonly isOver: boolean;
}

/** The rollouts of a journal, the oldest first. Pure. */
export function rolloutsIn(records: readonly RolloutRecord[]): readonly FlagRollout[] {
  const rollouts = new Map<string, FlagRollout>();
  for (const record of records) {
    const rollout = begun(record) ?? rollouts.get(record.run);
    if (rollout !== undefined) rollouts.set(record.run, after(rollout, record));
  }
  return [...rollouts.values()];
}

function begun(record: RolloutRecord): FlagRollout | undefined {
  if (record.kind !== 'planned') return undefined;
  const { kind: _, run: id, time: startedAt, ...plan } = record;
  return { id, ...plan, startedAt, stepsBegan: [], evidence: [], guards: [], readAt: undefined, isOver: false };
}

function after(rollout: FlagRollout, record: RolloutRecord): FlagRollout {
  switch (record.kind) {
    case 'planned':
      return rollout;
    case 'step':
      return { ...rollout, stepsBegan: [...rollout.stepsBegan, Date.parse(record.time)] };
    case 'look':
      // In place: there may be a thousand looks, and the arrays are those of this fold.
      (rollout.evidence as Evidence[]).push(...record.evidence);
      (rollout.guards as GuardReading[]).push(...record.guards);
      return { ...rollout, ...(record.missing.length === 0 && { readAt: record.at }) };
    case 'decided':
      return { ...rollout, end: record.end, text: record.text };
    case 'ended':
      return { ...rollout, isOver: true };
  }
}

/** The verdict on the variant that is on. Pure. */
export function verdictOf({ plan, stepsBegan, evidence, guards, readAt }: FlagRollout, now: number): Verdict {
  return evaluate({ plan, stepsBegan, evidence, guards, readAt }, now);
}

/** For how many of the orders the flag is on in a step, from 0 on. */
export function percentIn({ steps }: CanaryPlan, step: number): number {
  return Number(((steps[step]?.share ?? 0) * 100).toPrecision(6));
}

/** What the flag is in a step of the rollout. */
export function definitionIn({ before, plan }: FlagRollout, step: number): FlagDefinition {
  return withPercent(before, percentIn(plan, step));
}

/** What the flag is at its end; undefined: what another command has made of it. */
export function definitionAt({ before }: FlagRollout, end: RolloutEnd): FlagDefinition | undefined {
  if (end === 'overridden') return undefined;
  return end === 'promoted' ? withValue(before, true) : before;
}
