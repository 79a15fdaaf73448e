import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { PROBE_EVERY_MS } from '@shop/kit/replica-picker.ts';
import { CliError, messageOf, toCliError } from '../errors.ts';
import type { Running } from '../process/running.ts';
import { lastMessages } from './log-tail.ts';
import type { InstanceState, InstanceStatus } from './state.ts';
import type { StartConditions, Unit } from './unit.ts';

/** When to restart, when to give up, how often to look. Times in ms. */
export interface SupervisionLimits {
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Crashes in a row before it was ever ready, after which it has failed. */
  readonly maxFailedStarts: number;
  /** How long it must have been ready for a crash to begin again with the first backoff. */
  readonly stableMs: number;
  readonly startingProbeMs: number;
  readonly readyProbeMs: number;
  /** While it was ready once but is not now, and after a failed setUp. */
  readonly unreadyProbeMs: number;
  readonly probeTimeoutMs: number;
  /** How long the stop signal may take while it was not ready yet, before it is killed. */
  readonly stopStartingMs: number;
  /** Between two replicas of a service that are replaced: callers find the first one again with their next probe. */
  readonly betweenRoundsMs: number;
  /** Until every caller has read the file of upstreams again. */
  readonly announceMs: number;
  /** Failures of setUp in a row (a bad migration, for instance) after which the unit has failed. */
  readonly maxFailedSetUps: number;
}

export const defaultLimits: SupervisionLimits = {
  firstBackoffMs: 100,
  maxBackoffMs: 5000,
  maxFailedStarts: 5,
  stableMs: 10_000,
  startingProbeMs: 60,
  readyProbeMs: 2000,
  unreadyProbeMs: 250,
  probeTimeoutMs: 2000,
  stopStartingMs: 1500,
  betweenRoundsMs: 2 * PROBE_EVERY_MS,
  announceMs: 1_000,
  maxFailedSetUps: 3,
};

type Listener = (
  event: 'starting' | 'waiting' | 'ready' | 'unready' | 'crashed' | 'failed' | 'stopped',
  message: string,
) => void;

/**
 * Keeps one unit running: start, probe, set up, restart with backoff after a crash, give up in a crash loop. It owns
 * the unit's process; it does not know of other units. Invariants: I1: at most one process per unit. I2: after `stop()`
 * has resolved there is no process and none will be started. I3: it is `ready` only after probe and setUp succeeded for
 * the process that runs now.
 */
export class Instance {
  readonly unit: Unit;
  /** What faults change about its next starts. */
  conditions: StartConditions = {};
  #limits: SupervisionLimits;
  #listener: Listener;
  #status: InstanceStatus = 'stopped';
  #reason: string | undefined;
  #running: Running | undefined;
  #restarts: number;
  #crashes: number;
  #hasRun: boolean;
  #startedAt: string | undefined;
  #supervision: { stop: AbortController; done: Promise<void> } | undefined;
  #waiters = new Set<() => void>();

  /** `replaced`: what had this name before, with another configuration. */
  constructor(unit: Unit, listener: Listener, limits: SupervisionLimits = defaultLimits, replaced?: InstanceState) {
    this.unit = unit;
    this.#listener = listener;
    this.#limits = limits;
    this.#restarts = replaced?.restarts ?? 0;
    this.#crashes = replaced?.crashes ?? 0;
    this.#hasRun = replaced?.startedAt !== undefined;
  }

  get status(): InstanceStatus {
    return this.#status;
  }

  get isDesired(): boolean {
    return this.#supervision !== undefined;
  }

  /** Begins to keep the unit running; nothing happens when it is kept already. A failed one is tried again. */
  start(): void {
    if (this.#supervision && this.#status !== 'failed') return;
    const stop = new AbortController();
    this.#set('starting', undefined);
    this.#supervision = { stop, done: this.#keep(stop.signal) };
  }

  /** Resolves when ready; rejects with the reason and the last log lines when it failed, or when the signal aborts. */
  async whenReady(signal: AbortSignal): Promise<void> {
    while (this.#status !== 'ready') {
      signal.throwIfAborted();
      if (this.#status === 'failed') throw await this.failure();
      if (this.#status === 'stopped')
        throw new CliError({ code: 'stopped_while_starting', what: `${this.unit.name} was stopped while it started` });
      await this.#changed(signal);
    }
  }

  /** Ends the unit and stops keeping it, by another signal than usual where one is given. Resolves when nothing of it runs. */
  async stop(timeoutMs?: number, signal?: NodeJS.Signals): Promise<void> {
    const supervision = this.#supervision;
    if (!supervision) return;
    // Half started it has no work to finish, and may not hear its signal yet (RabbitMQ while it boots).
    const limitMs =
      this.#status === 'starting' ? Math.min(timeoutMs ?? Infinity, this.#limits.stopStartingMs) : timeoutMs;
    this.#set('stopping', undefined);
    supervision.stop.abort();
    this.unit.leave?.();
    await this.#running?.stop(limitMs, signal);
    await supervision.done;
    this.#supervision = undefined;
    this.#set('stopped', undefined);
    this.#listener('stopped', 'stopped');
  }

  snapshot(): InstanceState {
    const { name, service, kind, ports, url, provider, detail, address, info, inspector, logFile } = this.unit;
    const running = this.#running?.process;
    return {
      name,
      service,
      kind,
      status: this.#status,
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(running && { process: running }),
      ...(this.#running && this.unit.release?.()),
      ...(this.unit.code !== undefined && { code: shortHash(this.unit.code) }),
      ports,
      ...(url !== undefined && { url }),
      restarts: this.#restarts,
      crashes: this.#crashes,
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
      ...(provider !== undefined && { provider }),
      ...(detail !== undefined && { detail }),
      ...(address !== undefined && { address }),
      ...(info !== undefined && { info }),
      ...(inspector !== undefined && { inspector }),
      logFile,
    };
  }

  /** The error of a unit that is not ready: its reason and the last messages of its log. */
  async failure(): Promise<CliError> {
    const lines = await lastMessages(this.unit.logFile, 4);
    const log = lines.length > 0 ? `\nlast messages of its log:\n${lines.map((line) => `  ${line}`).join('\n')}` : '';
    return new CliError({
      code: 'instance_failed',
      what: `${this.unit.name} is not ready`,
      why: `${this.#reason ?? this.#status}${log}`,
      next: `see the whole log with "shopctl logs ${this.unit.service}", check the machine with "shopctl doctor"`,
    });
  }

  async #keep(stop: AbortSignal): Promise<void> {
    let failedStarts = 0;
    let backoffMs = this.#limits.firstBackoffMs;
    for (let first = true; !stop.aborted; first = false) {
      const outcome = await this.#runOnce(stop, first);
      if (stop.aborted) return;
      if (outcome.fatal) return this.#fail(outcome.how);
      failedStarts = outcome.readyForMs === undefined ? failedStarts + 1 : 0;
      if ((outcome.readyForMs ?? 0) >= this.#limits.stableMs) backoffMs = this.#limits.firstBackoffMs;
      if (failedStarts >= this.#limits.maxFailedStarts) {
        return this.#fail(`gave up after ${failedStarts} starts: ${outcome.how}`);
      }
      this.#crashes += 1;
      this.#set('backoff', outcome.how);
      this.#listener('crashed', `${outcome.how}; starting again in ${backoffMs} ms`);
      await delay(backoffMs, undefined, { signal: stop }).catch(ignoreAbort);
      backoffMs = Math.min(backoffMs * 2, this.#limits.maxBackoffMs);
    }
  }

  #fail(reason: string): void {
    this.unit.leave?.();
    this.#set('failed', reason);
    this.#listener('failed', reason);
  }

  /** One life of the process. */
  async #runOnce(stop: AbortSignal, isFirst: boolean): Promise<RunOutcome> {
    try {
      if (isFirst) await this.unit.prepare?.();
      if (stop.aborted) return { how: 'stopped' };
      const { conditions } = this;
      if (conditions.delayMs !== undefined) await this.#delayStart(conditions.delayMs, stop);
      if (stop.aborted) return { how: 'stopped' };
      this.#set('starting', this.#reason);
      this.#startedAt = new Date().toISOString();
      if (this.#hasRun) this.#restarts += 1;
      this.#hasRun = true;
      this.#listener('starting', 'starting');
      this.#running = await this.unit.start(conditions);
      const { inspector } = this.unit;
      if (inspector !== undefined) this.#listener('waiting', `waits for a debugger on ${inspector}`);
    } catch (error) {
      return { how: messageOf(error) };
    }
    // stop() may have been called while the process was being spawned: it found nothing to stop then.
    if (stop.aborted) await this.#running.stop();
    const over = new AbortController();
    const watching = this.#watch(this.#running, AbortSignal.any([stop, over.signal]));
    const how = await this.#running.ended;
    over.abort();
    const { readySince, fatal } = await watching;
    this.#running = undefined;
    if (fatal !== undefined) return { how: fatal, fatal: true };
    return readySince === undefined ? { how } : { how, readyForMs: performance.now() - readySince };
  }

  async #delayStart(delayMs: number, stop: AbortSignal): Promise<void> {
    this.#set('starting', `start delayed by ${delayMs / 1000} s`);
    this.#listener('starting', `start delayed by ${delayMs / 1000} s`);
    await delay(delayMs, undefined, { signal: stop }).catch(ignoreAbort);
  }

  /** Probes until the signal aborts; ends the process when its setUp fails for good. */
  async #watch(running: Running, signal: AbortSignal): Promise<Watch> {
    let readySince: number | undefined;
    let failedSetUps = 0;
    while (!signal.aborted) {
      const { problem, inSetUp } = await this.#look(signal, readySince === undefined);
      if (signal.aborted) break;
      failedSetUps = inSetUp ? failedSetUps + 1 : 0;
      if (problem !== undefined && failedSetUps >= this.#limits.maxFailedSetUps) {
        await running.stop();
        return { fatal: problem };
      }
      if (problem === undefined) {
        if (this.#status !== 'ready') {
          this.#set('ready', undefined);
          this.#listener('ready', 'ready');
        }
        readySince ??= performance.now();
      } else if (this.#status === 'ready') {
        this.#set('unready', problem);
        this.#listener('unready', problem);
      } else {
        this.#reason = problem;
      }
      await delay(this.#pauseMs(inSetUp), undefined, { signal }).catch(ignoreAbort);
    }
    return readySince === undefined ? {} : { readySince };
  }

  #pauseMs(hasFailedSetUp: boolean): number {
    if (this.#status === 'ready') return this.#limits.readyProbeMs;
    return this.#status === 'unready' || hasFailedSetUp ? this.#limits.unreadyProbeMs : this.#limits.startingProbeMs;
  }

  /** No problem when it serves and is set up. */
  async #look(signal: AbortSignal, needsSetUp: boolean): Promise<{ problem?: string; inSetUp: boolean }> {
    const limit = AbortSignal.timeout(this.#limits.probeTimeoutMs);
    try {
      await this.unit.probe(AbortSignal.any([signal, limit]));
    } catch (error) {
      const problem = limit.aborted ? `no response in ${this.#limits.probeTimeoutMs} ms` : messageOf(error);
      return { problem, inSetUp: false };
    }
    try {
      if (needsSetUp) await this.unit.setUp?.();
      return { inSetUp: false };
    } catch (error) {
      const { message, next } = toCliError(error);
      return { problem: next === undefined ? message : `${message}; ${next}`, inSetUp: true };
    }
  }

  #set(status: InstanceStatus, reason: string | undefined): void {
    this.#status = status;
    this.#reason = reason;
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

/** Short enough to be compared by eye. */
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** How one life of a process went: how it ended, and for how long it had been ready if it ever was. */
interface RunOutcome {
  readonly how: string;
  readonly readyForMs?: number;
  /** There is no use in starting it again. */
  readonly fatal?: boolean;
}

interface Watch {
  /** When it became ready first, on the monotonic clock. */
  readonly readySince?: number;
  /** Why it was ended. */
  readonly fatal?: string;
}

/** An aborted pause is the end of the pause. */
function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
