import { CliError, messageOf, receivedError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { wasNeverHeard } from '../platform/control-client.ts';
import type { RunClock } from '../shared/clock.ts';
import type { ChaosClient } from './chaos-client.ts';
import { endsAutomatically, type InjectRequest, type Lease, msSinceBegin } from './lease.ts';

/** Before the first fault acts, while one does, after the last was reverted. */
export type FaultPhase = 'before' | 'fault' | 'after';

/** What has become of a fault of the session. */
export interface FaultChange {
  readonly step: string;
  readonly state: 'injected' | 'reverted' | 'undo_failed';
  readonly lease: Lease;
}

/** Called while the session goes on; must not throw. */
export interface FaultListener {
  onChange(change: FaultChange): void;
  /** What went wrong on the way, and says nothing about the faults themselves. */
  onTrouble(event: 'lease.connection-lost' | 'revert.failed', details: string): void;
}

/** A fault of this run. */
interface Injection {
  readonly step: string;
  readonly request: InjectRequest;
  /** When it was requested, wall clock. */
  readonly askedAt: number;
  /** Closing the connection reverts the fault, also while it is being injected. */
  readonly connection: AbortController;
  lease: Lease | undefined;
  /** When it was reverted, or was known never to have happened, wall clock; undefined before. */
  overAt: number | undefined;
  /** It was no longer in place when the run reverted it. */
  wasLost: boolean;
}

/** Target and time of a fault: from its request until its end; wall clock, ms. */
export interface AimedFault {
  readonly fault: string;
  readonly target: string;
  readonly from: number;
  readonly until: number | undefined;
}

export interface RevertReport {
  readonly reverted: readonly Lease[];
  /** Faults that were not reverted, for people; empty when all are gone. */
  readonly notReverted: readonly string[];
}

/** How long ending faults may take, ms: the longest is a component that starts again. */
const REVERT_LIMIT_MS = 75_000;
const POLL_MS = 100;
/** `end.why` of a fault that the run itself ended. */
const WHY = 'the experiment is over';

/**
 * Why a fault ended that its run did not end: another command cleared it, or the platform ended. Undefined for a fault that
 * is active, that the run reverted, that happens once, or whose time to live expired.
 */
export function endedByOthers({ end }: Pick<Lease, 'end'>): string | undefined {
  if (end === undefined || end.why === WHY || Object.values<string>(endsAutomatically).includes(end.why))
    return undefined;
  return end.why;
}

/**
 * The faults of one run. Invariants: F1 a fault is held by a connection of this process, so the supervisor ends it when
 * this process is gone. F2 `revert` ends every fault that the run ever requested, also one whose injection was not waited
 * for, and reports every fault that is not verified to be gone. F3 faults of other commands are not touched.
 */
export class FaultSession {
  readonly #client: ChaosClient;
  readonly #listener: FaultListener;
  readonly #clock: RunClock;
  readonly #injections: Injection[] = [];
  /** Names of steps. */
  readonly #witnessed = new Set<string>();
  /** Run's clock, ms. */
  firstInjectedAt: number | undefined;
  firstWitnessedAt: number | undefined;
  lastRevertedAt: number | undefined;

  constructor(client: ChaosClient, listener: FaultListener, clock: RunClock) {
    this.#client = client;
    this.#listener = listener;
    this.#clock = clock;
  }

  /** Phase of an order placed now. A fault may act from its request on: a kill is reported after the restart. */
  phase(): FaultPhase {
    if (this.#injections.some((one) => !isOver(one))) return 'fault';
    return this.firstInjectedAt === undefined ? 'before' : 'after';
  }

  /** Targets of the run's faults, also of those that have ended. */
  targets(): readonly AimedFault[] {
    return this.#injections.map(({ request: { fault, target }, askedAt, overAt }) => {
      return { fault, target, from: askedAt, until: overAt };
    });
  }

  /** Faults that were ended by others or were lost, for people: later observations were not made under them. */
  cutShort(): readonly string[] {
    return this.#injections.flatMap(({ lease, wasLost, request: { fault, target } }) => {
      if (wasLost) return [`${fault} on ${target} was lost by what held it`];
      const why = lease === undefined ? undefined : endedByOthers(lease);
      return why === undefined ? [] : [`${fault} on ${target} was ended by others (${why})`];
    });
  }

  /** For people, when the fault of a step ended because its time to live expired. */
  expiredTtl(step: string): string | undefined {
    const one = this.#injections.find((injection) => injection.step === step);
    if (one?.lease?.end?.why !== endsAutomatically.expired) return undefined;
    return `${one.request.fault} on ${one.request.target} had ended, because its time to live expired`;
  }

  /** Resolves with the lease once injected. Throws CliError when it cannot be injected; a partial injection is reverted. */
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
      // A request without a response may have begun: `revert` looks at it again.
      if (wasNeverHeard(error)) this.#end(injection);
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #injected(injection: Injection): Promise<Lease> {
    const responses = this.#client.inject(injection.request, injection.connection.signal)[Symbol.asyncIterator]();
    const first = await responses.next();
    if (first.done)
      throw new CliError({ code: 'injection_failed', what: 'the supervisor ended while the fault was injected' });
    if (first.value.type === 'failed') {
      // The supervisor reverts a partial injection; a rejected request has changed nothing.
      if (first.value.error.exitCode !== exitCodes.dirty) this.#end(injection);
      throw receivedError(first.value.error);
    }
    const { lease } = first.value;
    injection.lease = lease;
    this.firstInjectedAt ??= this.#clock.now() - msSinceBegin(lease, this.#clock.date());
    this.#listener.onChange({ step: injection.step, state: 'injected', lease });
    void this.#follow(injection, responses);
    return lease;
  }

  /** A fault may end before it is reverted: by its time to live, on its own, or by others. */
  async #follow(injection: Injection, responses: AsyncIterator<{ type: string; lease?: Lease }>): Promise<void> {
    try {
      for (let next = await responses.next(); !next.done; next = await responses.next()) {
        const { type, lease } = next.value;
        if (type === 'ended' && lease !== undefined) this.#ended(injection, lease);
      }
    } catch (error) {
      // The connection is lost and with it the fault; `revert` asks for its end.
      if (!isOver(injection)) {
        this.#listener.onTrouble('lease.connection-lost', messageOf(error));
      }
    }
  }

  /** The current lease of a fault of this run. */
  async refresh(leaseId: string): Promise<Lease | undefined> {
    return (await this.#client.list()).find(({ id }) => id === leaseId);
  }

  /** The fault of this step was observed to be in effect. */
  witnessed(step: string): void {
    this.firstWitnessedAt ??= this.#clock.now();
    this.#witnessed.add(step);
  }

  isWitnessed(step: string): boolean {
    return this.#witnessed.has(step);
  }

  /** How many faults have been seen in effect. */
  get inEffect(): number {
    return this.#witnessed.size;
  }

  /** The fault of this step was not in place any more when it was to be reverted. */
  isLost(step: string): boolean {
    return this.#injections.some((one) => one.step === step && one.wasLost);
  }

  leaseOf(step: string): Lease | undefined {
    return this.#injections.findLast((one) => one.step === step)?.lease;
  }

  /** Ends the faults of one step, or all of the run. Never throws: the result names faults that were not reverted. */
  async revert(step?: string): Promise<RevertReport> {
    const chosen = this.#injections
      .filter((one) => (step === undefined || one.step === step) && !isOver(one))
      .reverse();
    const reverted: Lease[] = [];
    const notReverted: string[] = [];
    const ids = chosen.flatMap(({ lease }) => lease?.id ?? []);
    try {
      // Asking for the list measures pending faults once more, which is not possible after the revert.
      if (ids.length > 0) await this.#client.list();
      const lost = ids.length > 0 ? await this.#client.lost(ids) : [];
      for (const injection of chosen) injection.wasLost ||= lost.includes(injection.lease?.id ?? '');
      if (ids.length > 0) await this.#client.clear(ids, WHY);
    } catch (error) {
      // The end of each is looked up below; an error here alone says nothing about the fault.
      this.#listener.onTrouble('revert.failed', messageOf(error));
    }
    for (const injection of chosen) {
      const problem = await this.#untilOver(injection, reverted);
      if (problem !== undefined) notReverted.push(problem);
    }
    return { reverted, notReverted };
  }

  /** Undefined when it is gone; otherwise the problem. */
  async #untilOver(injection: Injection, reverted: Lease[]): Promise<string | undefined> {
    const { request } = injection;
    const name = `${request.fault} on ${request.target}`;
    const deadline = this.#clock.now() + REVERT_LIMIT_MS;
    for (;;) {
      try {
        const found = (await this.#client.list()).findLast((lease) => isOf(injection, lease));
        // A supervisor lists the last that ended; an unknown one was never begun, or ended long ago.
        if (found === undefined || found.status === 'reverted') {
          if (found !== undefined) {
            reverted.push(found);
            this.#ended(injection, found);
          }
          this.#end(injection);
          return undefined;
        }
        if (found.status === 'undo_failed') {
          this.#ended(injection, found);
          return `${name} (${found.id}): ${found.problem ?? 'could not be reverted'}`;
        }
        if (this.#clock.now() > deadline)
          return `${name} (${found.id}): still ${found.status} after ${REVERT_LIMIT_MS / 1000} s`;
        if (found.status === 'active') await this.#client.clear([found.id], WHY);
      } catch (error) {
        if (this.#clock.now() > deadline || isUnreachable(error)) {
          return `${name}: unknown whether it is gone: ${messageOf(error)}`;
        }
      }
      await this.#clock.sleep(POLL_MS, NEVER);
    }
  }

  #ended(injection: Injection, lease: Lease): void {
    if (injection.lease?.status === lease.status && isOver(injection)) return;
    const wasOver = isOver(injection);
    injection.lease = lease;
    if (lease.status === 'reverted') {
      this.#end(injection);
      this.lastRevertedAt = this.#clock.now();
    }
    if (wasOver) return;
    this.#listener.onChange({
      step: injection.step,
      state: lease.status === 'reverted' ? 'reverted' : 'undo_failed',
      lease,
    });
  }

  #end(injection: Injection): void {
    injection.overAt ??= this.#clock.date().getTime();
  }
}

/** A revert is never cut short. */
const NEVER = new AbortController().signal;

function isOver({ overAt }: Injection): boolean {
  return overAt !== undefined;
}

/** By its id where that is known; otherwise the request without a response. */
function isOf({ lease, request, askedAt }: Injection, other: Lease): boolean {
  if (lease !== undefined) return lease.id === other.id;
  const { fault, target, isHeld, since } = other;
  return isHeld && fault === request.fault && target === request.target && Date.parse(since) >= askedAt - 50;
}

/** No supervisor listens: asking again for a minute would not help. */
function isUnreachable(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === 4;
}
