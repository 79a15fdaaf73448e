import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FlagDefinition } from '@shop/kit/flag-file.ts';
import { CliError, messageOf } from '../../errors.ts';
import type { Asked } from '../../platform/change-log.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { Level } from '../analysis/guards.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { describeReason } from '../analysis/reasons.ts';
import {
  definitionAt,
  definitionIn,
  type FlagRollout,
  type Look,
  percentIn,
  type RolloutEnd,
  type RolloutRecord,
  rolloutsIn,
  verdictOf,
} from './rollout.ts';

/** Reads what becomes of the variants. */
export interface VariantObserver {
  /** Outcomes of before. */
  readonly level: Level;
  look(rollout: FlagRollout): Promise<Look>;
}

export interface RolloutDeps {
  readonly journal: {
    /** Resolves when it is on disk. */
    append(record: RolloutRecord): Promise<void>;
    read(): Promise<readonly RolloutRecord[]>;
  };
  readonly flags: {
    read(flag: string): Promise<FlagDefinition>;
    /** With its line in the change log. */
    write(flag: string, definition: FlagDefinition, asked: Asked): Promise<void>;
  };
  observe(plan: CanaryPlan, flag: string): Promise<VariantObserver>;
  /** Why nothing may be rolled out now, beside another rollout. */
  obstacle?(): CliError | undefined;
  onChange(rollout: FlagRollout, text: string): void;
  onProblem(message: string): void;
  readonly clock: RunClock;
  readonly everyMs?: number;
}

export interface RolloutRequest {
  readonly flag: string;
  readonly plan: CanaryPlan;
  readonly asked: Asked;
}

const EVERY_MS = 1_000;

/** Why a rollout ends otherwise than by its verdict. */
class Ends extends Error {
  override readonly name = 'Ends';
  readonly end: RolloutEnd;

  constructor(end: RolloutEnd, text: string) {
    super(text);
    this.end = end;
  }
}

interface Decided {
  readonly end: RolloutEnd;
  readonly text: string;
}

/**
 * Rolls flags out, one at a time. Invariants: R1: a step, and a decision, is on disk before the flag is written. R2: a rollout that is
 * not decided leaves the flag as it was before. R3: what another command has made of the flag meanwhile stays. R4: what was not
 * observed never promotes.
 */
export class RolloutEngine {
  readonly #deps: RolloutDeps;
  #records: RolloutRecord[] = [];
  /** `id` is empty until its first record is on disk. */
  #current:
    | { readonly id: string; readonly flag: string; readonly over: AbortController; readonly done: Promise<void> }
    | undefined;

  constructor(deps: RolloutDeps) {
    this.#deps = deps;
  }

  /** Reads the journal, and ends what an earlier process has begun. */
  async recover(): Promise<void> {
    this.#records = [...(await this.#deps.journal.read())];
    for (const rollout of this.rollouts().filter(({ isOver }) => !isOver)) {
      if (rollout.end === undefined)
        await this.#decide(rollout.id, { end: 'rolled-back', text: 'the supervisor ended meanwhile' });
      await this.#finish(rollout.id);
    }
  }

  /** The oldest first. */
  rollouts(): readonly FlagRollout[] {
    return rolloutsIn(this.#records);
  }

  /** The flag that is rolled out now. */
  get active(): string | undefined {
    return this.#current?.flag;
  }

  /** Resolves when it is on disk. Throws CliError (2) while another one, or what is in its way, is not over. */
  async start({ flag, plan, asked }: RolloutRequest): Promise<FlagRollout> {
    // Nothing is awaited between this and what makes it the current one.
    if (this.#current) throw rolloutActive(this.#current.flag);
    const obstacle = this.#deps.obstacle?.();
    if (obstacle !== undefined) throw obstacle;
    const id = randomUUID().slice(0, 8);
    const begun = Promise.withResolvers<void>();
    const over = new AbortController();
    this.#current = { id: '', flag, over, done: begun.promise };
    const leave = () => {
      this.#current = undefined;
      begun.resolve();
    };
    try {
      const before = await this.#deps.flags.read(flag);
      const observer = await this.#deps.observe(plan, flag);
      await this.#append({ kind: 'planned', flag, plan, before, level: observer.level, asked }, id);
      this.#current = { id, flag, over, done: begun.promise };
      void this.#drive(id, observer, over.signal).finally(leave);
    } catch (error) {
      leave();
      throw error;
    }
    return this.#rollout(id);
  }

  /** Ends the current one, and has the flag as it was. Throws CliError (2) where there is none. */
  async abort(text: string): Promise<FlagRollout> {
    const current = this.#current;
    if (current === undefined || current.id === '') throw noRollout();
    current.over.abort(new Ends('rolled-back', text));
    await current.done;
    return this.#rollout(current.id);
  }

  /** The platform is taken down. */
  async end(): Promise<void> {
    if (this.#current) await this.abort('the platform was taken down');
  }

  async #drive(id: string, observer: VariantObserver, signal: AbortSignal): Promise<void> {
    try {
      await this.#decide(id, await this.#carryOut(id, observer, signal).catch((error) => decidedBy(error, signal)));
      await this.#finish(id);
    } catch (error) {
      // The next start of the platform finds it unfinished, and ends it.
      this.#deps.onProblem(`the rollout ${id} could not be ended: ${messageOf(error)}`);
    }
  }

  async #carryOut(id: string, observer: VariantObserver, signal: AbortSignal): Promise<Decided> {
    const { clock, everyMs = EVERY_MS } = this.#deps;
    await this.#step(id);
    for (;;) {
      await clock.sleep(everyMs, signal);
      await this.#assertOurs(id);
      const look = await observer.look(this.#rollout(id));
      await this.#append({ kind: 'look', ...look }, id);
      const { decision, reasons, canary } = verdictOf(this.#rollout(id), look.at);
      const text = [...reasons.map(describeReason), ...look.missing].join('; ');
      if (decision === 'promote') return { end: 'promoted', text: `${canary.requests} orders had it on` };
      if (decision === 'rollback') return { end: 'rolled-back', text };
      if (decision === 'inconclusive') return { end: 'inconclusive', text };
      if (decision === 'step') await this.#step(id);
      else this.#deps.onChange(this.#rollout(id), text);
    }
  }

  async #step(id: string): Promise<void> {
    await this.#append({ kind: 'step' }, id);
    const rollout = this.#rollout(id);
    const step = rollout.stepsBegan.length - 1;
    await this.#deps.flags.write(rollout.flag, definitionIn(rollout, step), rollout.asked);
    this.#deps.onChange(rollout, `on for ${percentIn(rollout.plan, step)} %`);
  }

  async #assertOurs(id: string): Promise<void> {
    const rollout = this.#rollout(id);
    const now = await this.#deps.flags.read(rollout.flag);
    const ours = definitionIn(rollout, rollout.stepsBegan.length - 1);
    if (!isDeepStrictEqual(now, ours)) throw new Ends('overridden', 'another command changed the flag');
  }

  #decide(id: string, { end, text }: Decided): Promise<void> {
    return this.#append({ kind: 'decided', end, text }, id);
  }

  /** Has the flag as it was decided, unless another command has changed it. */
  async #finish(id: string): Promise<void> {
    const { flags, onChange } = this.#deps;
    const rollout = this.#rollout(id);
    const end = rollout.end as RolloutEnd;
    const wanted = definitionAt(rollout, end);
    if (wanted !== undefined) {
      const now = await flags.read(rollout.flag);
      const ours = rollout.plan.steps.map((_, step) => definitionIn(rollout, step));
      if (ours.some((one) => isDeepStrictEqual(one, now))) await flags.write(rollout.flag, wanted, rollout.asked);
    }
    await this.#append({ kind: 'ended' }, id);
    onChange(this.#rollout(id), `${end}: ${rollout.text}`);
  }

  #rollout(id: string): FlagRollout {
    return rolloutsIn(this.#records.filter(({ run }) => run === id))[0] as FlagRollout;
  }

  async #append(what: NewRecord, run: string): Promise<void> {
    const record = { time: this.#deps.clock.date().toISOString(), run, ...what } as RolloutRecord;
    await this.#deps.journal.append(record);
    this.#records.push(record);
  }
}

type NewRecord = RolloutRecord extends infer R ? (R extends RolloutRecord ? Omit<R, 'time' | 'run'> : never) : never;

/** What could not be carried out is not known to be good. */
function decidedBy(error: unknown, signal: AbortSignal): Decided {
  const cause = signal.aborted ? signal.reason : error;
  if (cause instanceof Ends) return { end: cause.end, text: cause.message };
  return { end: 'inconclusive', text: messageOf(cause) };
}

/** The refusal of what a rollout is in the way of. */
export function rolloutActive(flag: string): CliError {
  return new CliError({
    code: 'deploy_active',
    what: `a rollout of the flag ${flag} is not over`,
    next: `wait for its end ("shopctl flags rollouts"), or switch it off: "shopctl flags kill ${flag} --reason TEXT"`,
  });
}

function noRollout(): CliError {
  return new CliError({ code: 'no_deploy', what: 'no flag is rolled out now', next: 'see "shopctl flags rollouts"' });
}
