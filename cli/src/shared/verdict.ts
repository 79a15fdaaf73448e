import { type ExitCode, exitCodes } from '../exit-codes.ts';

/** What is said of one thing that must hold. `unknown`: the evidence is missing, which is never a pass. */
export type Verdict = 'pass' | 'fail' | 'unknown';

/** Of a run. `dirty`: a fault was not reverted. `interrupted`: it ended before its end, and clean. */
export type RunVerdict = Verdict | 'dirty' | 'interrupted';

/** Of one check of several. `skipped`: it was not asked for, so it counts in no verdict. */
export type CheckVerdict = Verdict | 'skipped';

/**
 * Every verdict with its exit code, worst first. A fault that is left matters more than any measurement; an interrupted run
 * has measured half; a failure is certain, whatever else is unknown.
 */
const EXIT_CODES = {
  dirty: exitCodes.dirty,
  interrupted: exitCodes.interrupted,
  fail: exitCodes.failed,
  unknown: exitCodes.unknown,
  pass: exitCodes.ok,
} as const satisfies Record<RunVerdict, ExitCode>;

const WORST_FIRST = Object.keys(EXIT_CODES) as readonly RunVerdict[];

/** The worst of several, skipped ones aside; of none it is a pass. */
export function worst<V extends RunVerdict>(verdicts: readonly (V | 'skipped')[]): V | 'pass' {
  return WORST_FIRST.find((one): one is V => verdicts.some((verdict) => verdict === one)) ?? 'pass';
}

/** Sorts the worst first. */
export function compareVerdicts(one: RunVerdict, other: RunVerdict): number {
  return WORST_FIRST.indexOf(one) - WORST_FIRST.indexOf(other);
}

export function exitCodeOf(verdict: RunVerdict): ExitCode {
  return EXIT_CODES[verdict];
}

/** The result of one check, as `--json` prints it. `renderCheck` and `renderJunitSuites` write it for others. */
export interface CheckResult<V extends string = CheckVerdict> {
  /** Stable: `confirmed-trace`. */
  readonly id?: string;
  /** The kind of check: `trace`, `machine`. */
  readonly group?: string;
  /** What must hold. */
  readonly name: string;
  readonly verdict: V;
  /** What was seen, one line; of `fail` and `unknown` why. */
  readonly evidence: string;
  readonly expected?: string;
  readonly observed?: string;
  /** Of a trace: how many spans it had to have, and the types of the events that had to be published. */
  readonly contract?: { readonly spans: number; readonly events: readonly string[] };
  /** More lines for people: a tree diff, the violations. */
  readonly details?: string;
  readonly tookMs?: number;
  /** What to do, where something is to be done. A pass with it is a warning. */
  readonly fix?: string;
}
