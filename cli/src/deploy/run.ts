import type { ErrorBody } from '../errors.ts';
import type { Asked } from '../platform/change-log.ts';
import type { Release } from '../platform/release.ts';
import type { Verdict } from './analysis/evaluate.ts';
import type { CanaryPlan } from './analysis/plan.ts';

/** `shadow`: it serves no client, and what it would do is compared with what is done. */
export const strategies = ['rolling', 'blue-green', 'canary', 'shadow'] as const;

/** What may follow a shadow. */
export const followers = ['rolling', 'blue-green'] as const satisfies readonly Strategy[];

export type Strategy = (typeof strategies)[number];

/**
 * Where a deploy is. `analysis`: a canary has a share of the calls, and is evaluated. `held`: what was found of it does not
 * decide, or may not, so that an operator has to. `comparing`: in the shadow. `kept`: the new release has the work, and is watched.
 * The last five are its ends: `compared`, `inconclusive` and `rolled-back` are on the release of before, `failed` may not be
 * (`isDirty`).
 */
export const deployStates = [
  'planned',
  'building',
  'preflight',
  'analysis',
  'held',
  'comparing',
  'shifting',
  'kept',
  'rolling-back',
  'done',
  'compared',
  'rolled-back',
  'inconclusive',
  'failed',
] as const;

export type DeployState = (typeof deployStates)[number];

/** What may come after each state. Whatever a killed supervisor was doing is over with it: `rolled-back` may follow each. */
export const transitions: Readonly<Record<DeployState, readonly DeployState[]>> = {
  planned: ['building', 'rolling-back', 'rolled-back'],
  building: ['preflight', 'rolling-back', 'rolled-back'],
  preflight: ['analysis', 'comparing', 'shifting', 'rolling-back', 'rolled-back'],
  analysis: ['held', 'shifting', 'rolling-back', 'rolled-back'],
  held: ['shifting', 'kept', 'rolling-back', 'rolled-back'],
  shifting: ['held', 'kept', 'rolling-back', 'rolled-back'],
  kept: ['held', 'done', 'rolling-back', 'rolled-back'],
  comparing: ['compared', 'rolling-back', 'rolled-back'],
  'rolling-back': ['rolled-back', 'inconclusive', 'failed'],
  done: [],
  compared: [],
  'rolled-back': [],
  inconclusive: [],
  failed: [],
};

export function isOver(state: DeployState): boolean {
  return transitions[state].length === 0;
}

/** Why a deploy was rolled back. */
export interface Cause {
  /**
   * `guard`: what was observed. `worse`: a test shows that a canary is worse. `evidence`: something that is needed to decide was
   * not observed. `asked`: by an operator. `superseded`: by another deploy. `ended`: the platform or its supervisor. `error`: it could not be
   * carried out.
   */
  readonly kind: 'guard' | 'worse' | 'evidence' | 'asked' | 'superseded' | 'ended' | 'error';
  readonly text: string;
  /** Of a guard: `exit`, `not-ready`, `preflight`, `drain`, `dead-letters`, `attempts`, `shadow`, or one of a plan. */
  readonly guard?: string;
  readonly error?: ErrorBody;
  /** More lines of what was observed: how a trace differs from its contract. */
  readonly details?: string;
}

/** How a canary is to be rolled out. */
export interface CanaryTerms {
  readonly plan: CanaryPlan;
  /** What happens at the limit of the plan. */
  readonly onInconclusive: 'hold' | 'rollback';
  /** What happens to a canary that is worse. `freeze`: nothing more, for a release that cannot be rolled back. */
  readonly onFailure: 'rollback' | 'freeze';
}

/** The calls of each replica, from one moment on. */
export interface WeightsChange {
  /** `step`: of the plan. `promoted`: the canary has nearly all. */
  readonly reason: 'step' | 'promoted';
  /** The first is 1. */
  readonly step: number;
  /** The canary's share, from 0 to 1. */
  readonly share: number;
  readonly weights: Readonly<Record<string, number>>;
}

/** What was decided, at `at` in ms since 1970, by the samples until then. It is acted upon. */
export interface DatedVerdict {
  readonly at: number;
  readonly verdict: Verdict;
}

/** One line of the journal. The samples of a canary are in a separate file (samples.ts). */
export type JournalRecord = { readonly time: string; readonly run: string } & (
  | {
      readonly kind: 'planned';
      readonly service: string;
      readonly strategy: Strategy;
      /** What was asked for: `HEAD~1`, `the sources of this clone`. */
      readonly source: string;
      readonly from: string;
      readonly to: string;
      readonly keepMs: number;
      readonly asked: Asked;
      readonly canary?: CanaryTerms;
    }
  | { readonly kind: 'releases'; readonly from: Release; readonly to: Release }
  | { readonly kind: 'state'; readonly state: DeployState; readonly cause?: Cause; readonly isDirty?: true }
  | { readonly kind: 'step'; readonly text: string }
  // When callers have read it: `time` is the beginning of a step.
  | ({ readonly kind: 'weights' } & WeightsChange)
  | ({ readonly kind: 'verdict' } & DatedVerdict)
  | { readonly kind: 'paused' | 'resumed' | 'promoted' }
);

/** A deploy, as its journal has it. */
export interface DeployRun {
  readonly id: string;
  readonly service: string;
  readonly strategy: Strategy;
  readonly source: string;
  /** Versions. */
  readonly from: string;
  readonly to: string;
  readonly keepMs: number;
  readonly asked: Asked;
  readonly state: DeployState;
  readonly isPaused: boolean;
  readonly cause?: Cause;
  /** It could not be rolled back completely. */
  readonly isDirty: boolean;
  /** ISO times. */
  readonly startedAt: string;
  readonly changedAt: string;
  readonly steps: readonly { readonly time: string; readonly text: string }[];
  /** Present once it is built. */
  readonly releases?: { readonly from: Release; readonly to: Release };
  /** Of a canary. */
  readonly canary?: CanaryTerms;
  /** Of a canary: its shares, the oldest first, with ISO times. */
  readonly weights?: readonly (WeightsChange & { readonly time: string })[];
  /** ISO times between which it was paused; the last one may go on. */
  readonly pauses?: readonly { readonly from: string; readonly to?: string }[];
  /** Of a canary: what was decided, the oldest first. */
  readonly verdicts?: readonly DatedVerdict[];
}

/** The deploys of a journal, the oldest first. Lines of a run whose beginning is not kept any more are left out. Pure. */
export function runsIn(records: readonly JournalRecord[]): readonly DeployRun[] {
  const runs = new Map<string, DeployRun>();
  for (const record of records) {
    const run = begun(record) ?? runs.get(record.run);
    if (run !== undefined) runs.set(record.run, { ...after(run, record), changedAt: record.time });
  }
  return [...runs.values()];
}

function begun(record: JournalRecord): DeployRun | undefined {
  if (record.kind !== 'planned') return undefined;
  const { kind: _, run: id, time, ...plan } = record;
  return {
    id,
    ...plan,
    state: 'planned',
    isPaused: false,
    isDirty: false,
    startedAt: time,
    changedAt: time,
    steps: [],
  };
}

function after(run: DeployRun, record: JournalRecord): DeployRun {
  switch (record.kind) {
    case 'planned':
      return run;
    case 'releases':
      return { ...run, releases: { from: record.from, to: record.to } };
    case 'state': {
      const { state, cause = run.cause, isDirty = run.isDirty } = record;
      return { ...unpaused(run, record.time), state, isDirty, ...(cause && { cause }) };
    }
    case 'step':
      return { ...run, steps: [...run.steps, { time: record.time, text: record.text }] };
    case 'weights': {
      const { kind: _, run: __, ...change } = record;
      return { ...run, weights: [...(run.weights ?? []), change] };
    }
    case 'verdict':
      return { ...run, verdicts: [...(run.verdicts ?? []), { at: record.at, verdict: record.verdict }] };
    case 'paused':
      return { ...run, isPaused: true, pauses: [...(run.pauses ?? []), { from: record.time }] };
    case 'resumed':
      return unpaused(run, record.time);
    case 'promoted':
      return run;
  }
}

function unpaused(run: DeployRun, time: string): DeployRun {
  if (!run.isPaused) return run;
  const pauses = (run.pauses ?? []).map((pause) => (pause.to === undefined ? { ...pause, to: time } : pause));
  return { ...run, isPaused: false, pauses };
}
