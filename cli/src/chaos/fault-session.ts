import { CliError, messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Journal } from '../experiments/journal.ts';
import type { FaultRecord, OrderPhase } from '../experiments/journal-records.ts';
import { wasNeverHeard } from '../platform/control-client.ts';
import type { RunClock } from '../shared/clock.ts';
import type { ChaosClient } from './chaos-client.ts';
import { endsByItself, type InjectRequest, type Lease, msSinceBegin } from './lease.ts';

/** A fault of this run. */
interface Injection {
  readonly step: string;
  readonly request: InjectRequest;
  /** When it was asked for, wall clock. */
  readonly askedAt: number;
  /** Closing the connection takes the fault back, also when it is still being injected. */
  readonly connection: AbortController;
  lease: Lease | undefined;
  /** When it was healed, or was known never to have happened, wall clock; undefined before. */
  overAt: number | undefined;
  /** When the run healed it, it was not in place any more. */
  wasLost: boolean;
}

/** What a fault was aimed at, and when: from its being asked for until it was over; wall clock, ms. */
export interface AimedFault {
  readonly fault: string;
  readonly target: string;
  readonly from: number;
  readonly until: number | undefined;
}

export interface HealReport {
  readonly healed: readonly Lease[];
  /** What is left, in words; empty when everything is gone. */
  readonly remains: readonly string[];
}

/** How long ending faults may take, ms: the longest is a component that starts again. */
const HEAL_LIMIT_MS = 75_000;
const POLL_MS = 100;
/** What the supervisor is told when the run itself ends a fault. */
const WHY = 'the experiment is over';

/**
 * Why a fault ended that its run had not ended: somebody else cleared it, or the platform went away. Undefined for one that
 * acts, that the run took back, that happens once, or whose own time was over.
 */
export function endedByOthers({ end }: Pick<Lease, 'end'>): string | undefined {
  if (end === undefined || end.why === WHY || Object.values<string>(endsByItself).includes(end.why)) return undefined;
  return end.why;
}

/**
 * The faults of one run. Invariants: F1 a fault is held by a connection of this process, so the supervisor ends it when
 * this process is gone. F2 `heal` ends every fault of the run that was ever asked for, also one whose injection nobody
 * waited for, and reports as left whatever was not seen to be gone. F3 other people's faults are not touched.
 */
export class FaultBook {
  readonly #client: ChaosClient;
  readonly #journal: Journal;
  readonly #clock: RunClock;
  readonly #injections: Injection[] = [];
  /** Names of steps. */
  readonly #witnessed = new Set<string>();
  /** Run's clock, ms. */
  firstInjectedAt: number | undefined;
  firstWitnessedAt: number | undefined;
  lastHealedAt: number | undefined;

  constructor(client: ChaosClient, journal: Journal, clock: RunClock) {
    this.#client = client;
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Where an order placed now belongs. A fault may act from when it is asked for: a kill is told once it is made good. */
  phase(): OrderPhase {
    if (this.#injections.some((one) => !isOver(one))) return 'fault';
    return this.firstInjectedAt === undefined ? 'before' : 'after';
  }

  /** What the run's faults were aimed at, also those that have ended. */
  targets(): readonly AimedFault[] {
    return this.#injections.map(({ request: { fault, target }, askedAt, overAt }) => {
      return { fault, target, from: askedAt, until: overAt };
    });
  }

  /** Faults that were ended by others before the run did, or were lost, in words: what was seen since was not seen under them. */
  cutShort(): readonly string[] {
    return this.#injections.flatMap(({ lease, wasLost, request: { fault, target } }) => {
      if (wasLost) return [`${fault} on ${target} was lost by what held it`];
      const why = lease === undefined ? undefined : endedByOthers(lease);
      return why === undefined ? [] : [`${fault} on ${target} was ended by others (${why})`];
    });
  }

  /** In words, when the fault of a step ended because its time to live was over. */
  timeOver(step: string): string | undefined {
    const one = this.#injections.find((injection) => injection.step === step);
    if (one?.lease?.end?.why !== endsByItself.timeOver) return undefined;
    return `${one.request.fault} on ${one.request.target} had ended, because its time to live was over`;
  }

  /** Resolves with the lease once injected. Throws CliError when it cannot be; what was done of it is taken back. */
  async inject(step: string, request: InjectRequest, signal: AbortSignal): Promise<Lease> {
    const connection = new AbortController();
    const injection: Injection = {
      step,
      request,
      askedAt: this.#clock.date().getTime(),
      connection,
      lease: undefined,
      overAt: undefined,
      wasLost: false,
    };
    this.#injections.push(injection);
    const giveUp = () => connection.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await this.#injected(injection);
    } catch (error) {
      // One that was asked, and whose answer did not come, may have begun: `heal` looks at it again.
      if (wasNeverHeard(error)) this.#end(injection);
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #injected(injection: Injection): Promise<Lease> {
    const answers = this.#client.inject(injection.request, injection.connection.signal)[Symbol.asyncIterator]();
    const first = await answers.next();
    if (first.done) throw new CliError({ what: 'the supervisor ended while the fault was injected' });
    if (first.value.type === 'failed') {
      // The supervisor takes back what it began; one that refused has begun nothing.
      if (first.value.error.exitCode !== exitCodes.dirty) this.#end(injection);
      throw new CliError(first.value.error);
    }
    const { lease } = first.value;
    injection.lease = lease;
    this.firstInjectedAt ??= this.#clock.now() - msSinceBegin(lease, this.#clock.date());
    this.#write(injection, 'injected', lease);
    void this.#follow(injection, answers);
    return lease;
  }

  /** A fault may end before it is healed: by its time to live, by itself, or by others. */
  async #follow(injection: Injection, answers: AsyncIterator<{ type: string; lease?: Lease }>): Promise<void> {
    try {
      for (let next = await answers.next(); !next.done; next = await answers.next()) {
        const { type, lease } = next.value;
        if (type === 'ended' && lease !== undefined) this.#ended(injection, lease);
      }
    } catch (error) {
      // The connection is gone and with it the fault; `heal` asks what became of it.
      if (!isOver(injection)) {
        this.#journal.write({ type: 'event', event: 'lease.connection-lost', details: messageOf(error) });
      }
    }
  }

  /** What the supervisor now says about a fault of this run. */
  async refresh(leaseId: string): Promise<Lease | undefined> {
    return (await this.#client.list()).find(({ id }) => id === leaseId);
  }

  /** The fault of this step has been seen in effect. */
  witnessed(step: string): void {
    this.firstWitnessedAt ??= this.#clock.now();
    this.#witnessed.add(step);
  }

  /** How many faults have been seen in effect. */
  get inEffect(): number {
    return this.#witnessed.size;
  }

  /** The fault of this step was not in place any more when it was to be taken back. */
  isLost(step: string): boolean {
    return this.#injections.some((one) => one.step === step && one.wasLost);
  }

  leaseOf(step: string): Lease | undefined {
    return this.#injections.findLast((one) => one.step === step)?.lease;
  }

  /** Ends the faults of one step, or all of the run. Never throws: what could not be ended remains. */
  async heal(step?: string): Promise<HealReport> {
    const chosen = this.#injections
      .filter((one) => (step === undefined || one.step === step) && !isOver(one))
      .reverse();
    const healed: Lease[] = [];
    const remains: string[] = [];
    const ids = chosen.flatMap(({ lease }) => lease?.id ?? []);
    try {
      // Asking for the list looks once more at witnesses that wait, which a healed fault has no more.
      if (ids.length > 0) await this.#client.list();
      const lost = ids.length > 0 ? await this.#client.lost(ids) : [];
      for (const injection of chosen) injection.wasLost ||= lost.includes(injection.lease?.id ?? '');
      if (ids.length > 0) await this.#client.clear(ids, WHY);
    } catch (error) {
      // What it came to is looked up below; an error here alone says nothing about the fault.
      this.#journal.write({ type: 'event', event: 'heal.failed', details: messageOf(error) });
    }
    for (const injection of chosen) {
      const problem = await this.#untilOver(injection, healed);
      if (problem !== undefined) remains.push(problem);
    }
    return { healed, remains };
  }

  /** Undefined when it is gone; otherwise what is left. */
  async #untilOver(injection: Injection, healed: Lease[]): Promise<string | undefined> {
    const { request } = injection;
    const name = `${request.fault} on ${request.target}`;
    const deadline = this.#clock.now() + HEAL_LIMIT_MS;
    for (;;) {
      try {
        const found = (await this.#client.list()).findLast((lease) => isOf(injection, lease));
        // A supervisor tells of the last that ended; one that it does not know was never begun, or ended long ago.
        if (found === undefined || found.status === 'healed') {
          if (found !== undefined) {
            healed.push(found);
            this.#ended(injection, found);
          }
          this.#end(injection);
          return undefined;
        }
        if (found.status === 'remains') {
          this.#ended(injection, found);
          return `${name} (${found.id}): ${found.problem ?? 'could not be taken back'}`;
        }
        if (this.#clock.now() > deadline)
          return `${name} (${found.id}): still ${found.status} after ${HEAL_LIMIT_MS / 1000} s`;
        if (found.status === 'active') await this.#client.clear([found.id], WHY);
      } catch (error) {
        if (this.#clock.now() > deadline || isUnreachable(error)) {
          return `${name}: nobody can say whether it is gone: ${messageOf(error)}`;
        }
      }
      await this.#clock.sleep(POLL_MS, NEVER);
    }
  }

  #ended(injection: Injection, lease: Lease): void {
    if (injection.lease?.status === lease.status && isOver(injection)) return;
    const wasOver = isOver(injection);
    injection.lease = lease;
    if (lease.status === 'healed') {
      this.#end(injection);
      this.lastHealedAt = this.#clock.now();
    }
    if (!wasOver) this.#write(injection, lease.status === 'healed' ? 'healed' : 'remains', lease);
  }

  #end(injection: Injection): void {
    injection.overAt ??= this.#clock.date().getTime();
  }

  #write({ step }: Injection, state: FaultRecord['state'], lease: Lease): void {
    const { id, fault, kind, target, parameters, ttlMs, status, since, end, problem } = lease;
    const evidence = end === undefined ? problem : `${end.why}: ${end.evidence}`;
    this.#journal.write({
      type: 'fault',
      step,
      state,
      lease: { id, fault, kind, target, parameters, ttlMs, status, since },
      ...(evidence !== undefined && { evidence }),
      ...(end !== undefined && { tookMs: end.tookMs }),
    });
  }
}

/** Healing is never cut short. */
const NEVER = new AbortController().signal;

function isOver({ overAt }: Injection): boolean {
  return overAt !== undefined;
}

/** By its id where that is known; otherwise the fault this run has asked for and not heard of. */
function isOf({ lease, request, askedAt }: Injection, other: Lease): boolean {
  if (lease !== undefined) return lease.id === other.id;
  const { fault, target, isHeld, since } = other;
  return isHeld && fault === request.fault && target === request.target && Date.parse(since) >= askedAt - 50;
}

/** Nobody listens: asking again for a minute would not help. */
function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === 4;
}
