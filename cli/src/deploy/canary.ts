import { evaluate, type Verdict } from './analysis/evaluate.ts';
import type { GuardReading } from './analysis/guards.ts';
import type { CanaryPlan } from './analysis/plan.ts';
import { describeReason, type Reason } from './analysis/reasons.ts';
import type { CanaryObserver } from './observe/seen.ts';
import type { Cause, DeployRun } from './run.ts';
import { rolloutAt, type Sample, type SampleFiles } from './samples.ts';

/** What a canary needs beside what each deploy does. */
export interface CanaryDeps {
  observe(plan: CanaryPlan): CanaryObserver;
  readonly samples: SampleFiles;
}

export interface CanaryOptions extends Pick<CanaryDeps, 'samples'> {
  readonly observer: CanaryObserver;
  /** As the journal has it now. */
  run(): DeployRun;
  /** ms since 1970. */
  now(): number;
}

/** How often a guard that still holds is written down with what it saw, ms. */
const WRITTEN_EVERY_MS = 10_000;

/** A canary that is evaluated: it writes down what it sees, and its verdict follows from that alone. */
export class Canary {
  readonly #options: CanaryOptions;
  readonly #samples: Sample[] = [];
  /** By guard: its last reading in a sample. */
  readonly #written = new Map<string, GuardReading>();
  #last: { readonly at: number; readonly verdict: Verdict } | undefined;

  constructor(options: CanaryOptions) {
    this.#options = options;
  }

  /** What was found in the last look. */
  get last(): { readonly at: number; readonly verdict: Verdict } | undefined {
    return this.#last;
  }

  /** Looks once. The sample is on disk when it resolves. */
  async look(): Promise<{ readonly at: number; readonly verdict: Verdict }> {
    const { observer, samples, run, now } = this.#options;
    const seen = await observer.look(now());
    // After the reading, which may take long.
    const at = now();
    const current = run();
    const share = current.weights?.at(-1)?.share ?? 0;
    const evidence = seen.evidence.map((line) => ({ ...line, at }));
    const guards = seen.guards.filter((reading) => isNews(reading, this.#written.get(reading.guard)));
    for (const reading of guards) this.#written.set(reading.guard, reading);
    const draft = { at, share, evidence, guards, missing: seen.missing };
    const limit = seen.slowAboveS === undefined ? {} : { slowAboveS: seen.slowAboveS };
    const before = { ...draft, ...limit, tests: { errors: 0, slow: 0, promotion: 0 } };
    const verdict = evaluate(rolloutAt(current, [...this.#samples, before], at), at);
    const { errors, slow, promotion } = verdict.tests;
    const sample: Sample = {
      ...before,
      tests: { errors: errors.logEvidence, slow: slow.logEvidence, promotion: promotion.logEvidence },
    };
    await samples.append(current.id, sample);
    this.#samples.push(sample);
    this.#last = { at, verdict };
    return this.#last;
  }
}

/** A verdict needs the states alone; a report shows what was seen, which need not be of this second. */
function isNews({ state, detail, at }: GuardReading, before: GuardReading | undefined): boolean {
  if (before === undefined || before.state !== state) return true;
  return before.detail !== detail && at - before.at >= WRITTEN_EVERY_MS;
}

/** Why a canary is rolled back, or not decided. */
export function causeOfVerdict({ decision, reasons, canary }: Verdict): Cause {
  const hit = `${canary.bad} of ${canary.requests} requests of the canary failed`;
  const text = [...reasons.map(describeReason), ...(canary.bad > 0 ? [hit] : [])].join('; ');
  if (decision !== 'rollback') return { kind: 'evidence', text };
  const tripped = reasons.find((reason): reason is Extract<Reason, { code: 'guard_tripped' }> => {
    return reason.code === 'guard_tripped';
  });
  return tripped === undefined ? { kind: 'worse', text } : { kind: 'guard', guard: tripped.guard, text };
}
