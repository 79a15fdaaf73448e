import { randomBytes } from 'node:crypto';
import type { TObject } from 'typebox';
import { CliError, messageOf } from '../errors.ts';
import type { EventLog } from '../platform/events.ts';
import type { FaultRecord, UndoLog } from '../platform/undo-log.ts';
import { within } from '../shared/time-limit.ts';
import { checkTarget, findFault } from './catalog.ts';
import type { AnyFault, Witness } from './fault.ts';
import {
  type ClearResult,
  endsAutomatically,
  type HiddenRequest,
  type InjectRequest,
  type Lease,
  type LeaseStatus,
  ttlProblem,
} from './lease.ts';
import { checkParameters, readDurations, writeParameters } from './parameters.ts';
import type { PlatformAccess } from './platform-access.ts';

export interface LeasesOptions {
  readonly log: UndoLog;
  readonly platform: PlatformAccess;
  readonly events: EventLog;
  /** Called whenever a lease has changed. */
  readonly onChange: () => void;
  /** Default: the catalog's. */
  readonly findFault?: (name: string) => AnyFault;
  /** Default: the catalog's. */
  readonly checkTarget?: (fault: AnyFault, target: string) => void;
}

/** A fault of a drill, in the hands of the drill alone. */
export interface HiddenLease {
  readonly fault: string;
  readonly target: string;
  /** Measured again while it was not observed. */
  witness(): Promise<Witness>;
  /** Resolves when it is verified to be gone. Throws CliError (6) where it is not; it is listed as any other then. */
  revert(why: string): Promise<void>;
}

/** Longest time to revert a fault and verify that, ms, unless its record has another. */
const UNDO_LIMIT_MS = 12_000;
/** Leases that have ended and are still listed. */
const KEPT_ENDED = 20;

interface Entry {
  readonly record: FaultRecord;
  readonly fault: AnyFault;
  readonly isHeld: boolean;
  status: LeaseStatus;
  /** Settles when the injection has, whatever became of it. */
  injected: Promise<unknown>;
  witness?: Witness;
  looking?: Promise<Witness> | undefined;
  /** Whether an operator may have ended its effect since the last look; undefined before the first such change. */
  isStale?: boolean;
  end?: Lease['end'];
  problem?: string | undefined;
  timer?: NodeJS.Timeout;
  ending?: Promise<void> | undefined;
}

/**
 * Every fault as a lease. Invariants: L1: the undo of a fault is on disk before the fault happens, and stays there
 * until the fault is verified to be gone. L2: a fault ends when its time to live expires at the latest, or when its
 * holder is lost. L3: it ends once, however many reasons there are. L4: a fault whose undo failed is reported until it
 * is reverted.
 */
export class Leases {
  readonly #log: UndoLog;
  readonly #platform: PlatformAccess;
  readonly #events: EventLog;
  readonly #onChange: () => void;
  readonly #findFault: (name: string) => AnyFault;
  readonly #checkTarget: (fault: AnyFault, target: string) => void;
  readonly #entries = new Map<string, Entry>();
  /** Checked and not yet among the entries: preparing takes time, in which another fault may be requested. */
  readonly #preparing = new Set<Pick<Lease, 'id' | 'fault' | 'target' | 'parameters' | 'status' | 'since'>>();

  constructor({ log, platform, events, onChange, ...options }: LeasesOptions) {
    this.#log = log;
    this.#platform = platform;
    this.#events = events;
    this.#onChange = onChange;
    this.#findFault = options.findFault ?? findFault;
    this.#checkTarget =
      options.checkTarget ??
      ((fault, target) => checkTarget(fault, target, platform.state() ?? { edges: [], instances: [] }));
  }

  /** Adopts the faults of an earlier supervisor from the undo log: `undo_failed` until they are reverted. */
  async adopt(): Promise<void> {
    for (const record of await this.#log.open()) {
      this.#entries.set(record.id, {
        record,
        fault: this.#recordedFault(record),
        isHeld: false,
        status: 'undo_failed',
        injected: Promise.resolve(),
        problem: 'its supervisor was killed',
      });
    }
  }

  #recordedFault({ id, fault, target }: FaultRecord): AnyFault {
    try {
      return this.#findFault(fault);
    } catch (cause) {
      throw new CliError({
        code: 'undo_log_unreadable',
        what: `the undo log has an unknown fault "${fault}"`,
        why: 'another version of shopctl wrote it',
        next: `check that nothing of it is left on ${target}, and remove the line of ${id} from chaos/undo.jsonl in the state folder`,
        cause,
      });
    }
  }

  /** The newest last; a few that have ended among them. Of those of drills only what could not be reverted. */
  list(): readonly Lease[] {
    return [...this.#entries.values()].filter(isShown).map(describe);
  }

  /** In effect, being reverted, or not reverted. */
  unfinished(): readonly Lease[] {
    return this.list().filter(({ status }) => status !== 'reverted');
  }

  /** The same with those of drills. For the supervisor alone: it must not be shown to anybody. */
  allUnfinished(): readonly Lease[] {
    return [...this.#entries.values()].map(describe).filter(({ status }) => status !== 'reverted');
  }

  /**
   * The same, with another look at those that are pending or have not been observed yet. What was observed is looked at
   * again once after each `lookAgain`.
   */
  async refresh(): Promise<readonly Lease[]> {
    for (const entry of this.#entries.values()) {
      if (entry.status !== 'active' || entry.witness === undefined) continue;
      const { verdict } = entry.witness;
      if (entry.isStale === undefined && (verdict === 'pending' || verdict === 'not_observed')) {
        entry.witness = await this.#witness(entry);
      } else if (entry.isStale) await this.#lookAfterChange(entry);
    }
    return this.list();
  }

  /** An operator changed something: what was in effect may not be any more. */
  lookAgain(): void {
    for (const entry of this.#entries.values()) {
      const verdict = entry.status === 'active' ? entry.witness?.verdict : undefined;
      if (verdict === 'observed' || verdict === 'unmeasurable' || entry.isStale === false) entry.isStale = true;
    }
  }

  async #lookAfterChange(entry: Entry): Promise<void> {
    entry.isStale = false;
    try {
      entry.witness = await this.#witness(entry);
    } catch {
      // It is starting again, perhaps: the next call looks, and what was measured stays until then.
      entry.isStale = true;
    }
  }

  /** Of these faults those that should be in effect and are not in place any more, because their server lost them. */
  async lost(ids: readonly string[]): Promise<readonly string[]> {
    const active = [...this.#entries.values()].filter(
      ({ record, status }) => status === 'active' && ids.includes(record.id),
    );
    const found = await Promise.all(
      active.map(async ({ record, fault }) => {
        // A server that does not respond may still have the fault; its outage is reported separately.
        const isThere = await fault.isInPlace?.(record.undo, this.#platform).catch(() => true);
        return isThere === false ? [record.id] : [];
      }),
    );
    return found.flat();
  }

  /**
   * Checks everything, writes the undo to disk, injects, and looks whether the fault is in effect. Throws CliError: (2)
   * before anything has happened; otherwise the injection is reverted. `holderSignal` ends it early, a held one also later.
   */
  async inject(request: InjectRequest, holderSignal: AbortSignal): Promise<Lease> {
    return describe(await this.#inject(request, holderSignal, false));
  }

  /** The same for a drill. What it gives back is to be kept from the trainee. */
  async injectHidden(request: HiddenRequest): Promise<HiddenLease> {
    const entry = await this.#inject({ ...request, hold: false }, new AbortController().signal, true);
    return {
      fault: entry.fault.name,
      target: entry.record.target,
      witness: async () => {
        if (entry.status === 'active' && entry.witness?.verdict !== 'observed')
          entry.witness = await this.#witness(entry);
        return entry.witness as Witness;
      },
      revert: async (why) => {
        await this.#end(entry, why);
        if (entry.status === 'undo_failed') throw notReverted(entry);
      },
    };
  }

  async #inject(request: InjectRequest, holderSignal: AbortSignal, hidden: boolean): Promise<Entry> {
    const fault = this.#findFault(request.fault);
    this.#checkTarget(fault, request.target);
    const parameters: FaultRecord['parameters'] = checkParameters(
      fault.parameters as TObject,
      readDurations(fault.parameters, request.parameters),
      fault.name,
    );
    this.#checkFree(fault, request.target, parameters);
    const problem = ttlProblem(request.ttlMs);
    if (problem) throw new CliError({ code: 'invalid_duration', what: `invalid time to live: ${problem}` });
    const injection = { id: randomBytes(3).toString('hex'), target: request.target, parameters };
    const entry = await this.#enter(fault, injection, { request, holderSignal, hidden });
    const { record } = entry;
    try {
      await this.#log.begin(record);
    } catch (cause) {
      this.#entries.delete(record.id);
      throw new CliError({
        code: 'injection_failed',
        what: 'nothing was injected: its undo cannot be written',
        why: messageOf(cause),
        cause,
      });
    }
    await this.#injectRecorded(entry, holderSignal);
    return entry;
  }

  /** Prepares the undo. Its place is reserved before that, so that no other fault comes between. */
  async #enter(
    fault: AnyFault,
    injection: Pick<FaultRecord, 'id' | 'target' | 'parameters'>,
    {
      request,
      holderSignal,
      hidden,
    }: { readonly request: InjectRequest; readonly holderSignal: AbortSignal; readonly hidden: boolean },
  ): Promise<Entry> {
    const preparing = {
      ...injection,
      fault: fault.name,
      status: 'injecting',
      since: new Date().toISOString(),
    } as const;
    this.#preparing.add(preparing);
    try {
      const undo = (await fault.prepare({ ...injection, ...(hidden && { hidden }) }, this.#platform)) as object;
      holderSignal.throwIfAborted();
      const record: FaultRecord = {
        type: 'fault',
        ...injection,
        time: new Date().toISOString(),
        fault: fault.name,
        undo,
        ttlMs: request.ttlMs,
        ...(fault.needsPlatform && { needsPlatform: true }),
        ...(hidden && { hidden }),
      };
      const entry: Entry = { record, fault, isHeld: request.hold, status: 'injecting', injected: Promise.resolve() };
      this.#entries.set(record.id, entry);
      return entry;
    } finally {
      this.#preparing.delete(preparing);
    }
  }

  /** Ends faults by id, or all; the newest first. Throws CliError (2) for an unknown id. */
  async clear(ids: readonly string[] | 'all', why: string): Promise<ClearResult> {
    const unfinished = this.unfinished().map(({ id }) => id);
    const unknown = ids === 'all' ? [] : ids.filter((id) => !unfinished.includes(id));
    if (unknown.length > 0) {
      throw new CliError({
        code: 'unknown_fault_id',
        what: `unknown fault id ${unknown.join(', ')}`,
        next: unfinished.length > 0 ? `active faults: ${unfinished.join(', ')}` : 'no fault is active',
      });
    }
    const chosen = [...this.#entries.values()].filter((entry) => {
      return entry.status !== 'reverted' && isShown(entry) && (ids === 'all' || ids.includes(entry.record.id));
    });
    chosen.reverse();
    // One after the other: a later fault may hide whether an earlier one is gone.
    for (const entry of chosen) await this.#end(entry, why);
    const after = chosen.map(describe);
    return {
      reverted: after.filter(({ status }) => status === 'reverted'),
      notReverted: after.filter(({ status }) => status !== 'reverted'),
    };
  }

  /** Injects again what a restarted Toxiproxy has lost. */
  async reapply(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (entry.fault.kind !== 'toxic' && entry.fault.kind !== 'proxy') continue;
      // Its end waits for this: a request in flight when the toxic is removed would arrive afterwards, and the toxic would stay.
      entry.injected = entry.injected.then(() => this.#injectAgain(entry));
      await entry.injected;
    }
  }

  async #injectAgain({ record, fault, status, timer }: Entry): Promise<void> {
    if (status !== 'active' && status !== 'injecting') return;
    // It is injected for the first time once its undo is on disk (L1), and then the restarted server has it.
    if (timer === undefined) return;
    await fault.inject(record, record.undo, this.#platform).catch((error: unknown) => {
      // A toxic that still exists is rejected (409), which is fine.
      if (record.hidden) return;
      this.#events.add('chaos.reapplied', record.target, `${fault.name} was not injected again: ${messageOf(error)}`);
    });
  }

  /** Reverts faults whose undo failed while PostgreSQL or RabbitMQ did not run. */
  async retryFailedUndos(why: string): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (entry.status === 'undo_failed' && entry.fault.needsPlatform) await this.#end(entry, why);
    }
  }

  /** The platform ends: every fault is reverted that would outlive it. */
  async endWithPlatform(): Promise<void> {
    for (const { id } of [...this.allUnfinished()].reverse()) {
      const entry = this.#entries.get(id) as Entry;
      if (entry.fault.endsWithPlatform)
        await this.#settle(entry, 'the platform ends', 'its processes end', performance.now());
      else await this.#end(entry, 'the platform ends');
    }
  }

  async #injectRecorded(entry: Entry, holderSignal: AbortSignal): Promise<void> {
    const { record, fault } = entry;
    const onHolderLost = () => void this.#end(entry, 'its holder was lost');
    entry.timer = setTimeout(() => void this.#end(entry, endsAutomatically.expired), record.ttlMs);
    const injecting = fault.inject(record, record.undo, this.#platform);
    // The end waits for this; the failure itself is reported to the caller.
    entry.injected = injecting.catch(() => undefined);
    holderSignal.addEventListener('abort', onHolderLost, { once: true });
    if (holderSignal.aborted) onHolderLost();
    this.#report(entry, 'chaos.injecting', 'being injected');
    try {
      await injecting;
      if (entry.status === 'injecting') entry.status = 'active';
      // A drill looks later, so that its round does not wait for it; what has ended by then cannot be looked at.
      if (!record.hidden || fault.isMomentary) {
        entry.witness = await this.#witness(entry);
        this.#report(entry, 'chaos.injected', entry.witness.evidence);
      }
    } catch (error) {
      await this.#end(entry, 'it could not be injected');
      throw notInjected(describe(entry), error);
    }
    if (fault.isMomentary) await this.#end(entry, endsAutomatically.momentary);
    // A detached fault stays when its command ends after the response.
    if (!entry.isHeld) holderSignal.removeEventListener('abort', onHolderLost);
  }

  /** One look at a time for all callers: it opens connections. */
  #witness(entry: Entry): Promise<Witness> {
    const { record, fault } = entry;
    entry.looking ??= fault.witness(record, record.undo, this.#platform).finally(() => {
      entry.looking = undefined;
    });
    return entry.looking;
  }

  /** Two at one place would revert each other; `placeOf` distinguishes several places of one target. */
  #checkFree(fault: AnyFault, target: string, parameters: FaultRecord['parameters']): void {
    const other = [...this.allUnfinished(), ...this.#preparing].find(
      (lease) =>
        lease.fault === fault.name &&
        lease.target === target &&
        fault.placeOf?.(lease.parameters) === fault.placeOf?.(parameters),
    );
    if (!other) return;
    throw new CliError({
      code: 'fault_already_active',
      what: `${fault.name} is already active on ${target}`,
      why: `${other.id} (${other.status}) since ${other.since}`,
      next: `end it first with "shopctl chaos clear ${other.id}"`,
    });
  }

  #end(entry: Entry, why: string): Promise<void> {
    if (entry.status === 'reverted') return Promise.resolve();
    entry.ending ??= this.#undo(entry, why).finally(() => {
      entry.ending = undefined;
    });
    return entry.ending;
  }

  /** Never rejects: the lease has the problem. */
  async #undo(entry: Entry, why: string): Promise<void> {
    const { record, fault } = entry;
    clearTimeout(entry.timer);
    const began = performance.now();
    entry.status = 'ending';
    this.#report(entry, 'chaos.ending', why);
    await entry.injected;
    let evidence: string;
    try {
      const undone = (async (): Promise<string> => {
        await fault.undo(record.undo, this.#platform);
        return fault.verify(record.undo, this.#platform);
      })();
      evidence = await within(undone, fault.undoLimitMs ?? UNDO_LIMIT_MS, `the undo of ${fault.name}`);
    } catch (error) {
      entry.status = 'undo_failed';
      entry.problem = messageOf(error);
      this.#report(entry, 'chaos.undo_failed', entry.problem);
      return;
    }
    await this.#settle(entry, why, evidence, began);
  }

  /** Never rejects: a fault that is verified to be gone is reverted, whether that can be recorded or not. */
  async #settle(entry: Entry, why: string, evidence: string, began: number): Promise<void> {
    clearTimeout(entry.timer);
    const { id, hidden } = entry.record;
    const reverted = { id, time: new Date().toISOString(), why, evidence };
    const unwritten = await this.#record({ ...reverted, ...(hidden && { hidden }) });
    entry.status = 'reverted';
    entry.problem = undefined;
    entry.end = { why, tookMs: Math.round(performance.now() - began), evidence: `${evidence}${unwritten}` };
    this.#report(entry, 'chaos.reverted', `${why}: ${entry.end.evidence}`);
    const ended = [...this.#entries].filter(([, { status }]) => status === 'reverted').map(([id]) => id);
    for (const id of ended.slice(0, -KEPT_ENDED)) this.#entries.delete(id);
  }

  /** Resolves with an addition to the evidence when the disk rejects the record (full, read-only): the next start reverts again. */
  async #record(reverted: Parameters<UndoLog['reverted']>[0]): Promise<string> {
    try {
      await this.#log.reverted(reverted);
      return '';
    } catch (error) {
      return `; this could not be written to the undo log: ${messageOf(error)}`;
    }
  }

  #report({ record, fault }: Entry, type: string, message: string): void {
    if (record.hidden) return;
    const how = writeParameters(fault.parameters, record.parameters);
    this.#events.add(type, record.target, `${record.id} ${fault.name}${how === '' ? '' : ` (${how})`}: ${message}`);
    this.#onChange();
  }
}

/** A fault of a drill is only shown where it could not be reverted. */
function isShown({ record, status }: Entry): boolean {
  return !record.hidden || status === 'undo_failed';
}

function describe({ record, fault, status, isHeld, witness, end, problem }: Entry): Lease {
  const { id, target, parameters, time, ttlMs } = record;
  return {
    id,
    fault: fault.name,
    kind: fault.kind,
    target,
    parameters,
    status,
    since: time,
    ttlMs,
    expiresAt: new Date(Date.parse(time) + ttlMs).toISOString(),
    isHeld,
    ...(witness && { witness }),
    ...(end && { end }),
    ...(problem !== undefined && { problem }),
  };
}

function notReverted({ fault, record, problem }: Entry): CliError {
  return new CliError({
    code: 'fault_not_reverted',
    what: `${fault.name} on ${record.target} could not be reverted`,
    ...(problem !== undefined && { why: problem }),
    next: 'run "shopctl chaos clear --all"',
  });
}

/** The error of the injection, and whether it was reverted. */
function notInjected({ fault, target, status, problem }: Lease, cause: unknown): CliError {
  const isClean = status === 'reverted';
  const own = cause instanceof CliError ? cause : undefined;
  return new CliError({
    code: isClean ? (own?.code ?? 'injection_failed') : 'fault_not_reverted',
    what: `${fault} could not be injected into ${target}`,
    why: isClean ? messageOf(cause) : `${messageOf(cause)}\nthe partial injection could not be reverted: ${problem}`,
    next: isClean ? (own?.next ?? 'it was reverted; see "shopctl status"') : 'run "shopctl chaos clear --all"',
    cause,
  });
}
