import { randomBytes } from 'node:crypto';
import type { TObject } from 'typebox';
import { within } from '../commands/connect-within.ts';
import { CliError, messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { EventLog } from '../platform/events.ts';
import type { FaultRecord, UndoLog } from '../platform/undo-log.ts';
import { checkTarget, findFault } from './catalog.ts';
import type { AnyFault, Witness } from './fault.ts';
import {
  endsByItself,
  type HealResult,
  type InjectRequest,
  type Lease,
  type LeaseStatus,
  ttlProblem,
} from './lease.ts';
import { checkParameters, readDurations, writeParameters } from './parameters.ts';
import type { World } from './world.ts';

export interface LeasesOptions {
  readonly log: UndoLog;
  readonly world: World;
  readonly events: EventLog;
  /** Called whenever a lease has changed. */
  readonly onChange: () => void;
  /** Default: the catalog's. */
  readonly findFault?: (name: string) => AnyFault;
  /** Default: the catalog's. */
  readonly checkTarget?: (fault: AnyFault, target: string) => void;
}

/** How long a fault may take to be taken back and seen to be gone, ms, unless it says otherwise. */
const UNDO_LIMIT_MS = 12_000;
/** Leases that have ended and are still told. */
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
  end?: Lease['end'];
  problem?: string | undefined;
  timer?: NodeJS.Timeout;
  ending?: Promise<void> | undefined;
}

/**
 * Every fault as a lease. Invariants: L1 what takes a fault back is on disk before the fault happens, and stays there
 * until the fault was seen to be gone; L2 a fault ends at its time to live at the latest, or when its holder goes away;
 * L3 it ends once, however many reasons there are; L4 what could not be taken back is told until it is.
 */
export class Leases {
  readonly #log: UndoLog;
  readonly #world: World;
  readonly #events: EventLog;
  readonly #onChange: () => void;
  readonly #findFault: (name: string) => AnyFault;
  readonly #checkTarget: (fault: AnyFault, target: string) => void;
  readonly #entries = new Map<string, Entry>();
  /** Checked and not yet among the entries: a fault's look at the platform takes its time, and another may be asked for. */
  readonly #coming = new Set<Pick<Lease, 'id' | 'fault' | 'target' | 'parameters' | 'status' | 'since'>>();

  constructor({ log, world, events, onChange, ...options }: LeasesOptions) {
    this.#log = log;
    this.#world = world;
    this.#events = events;
    this.#onChange = onChange;
    this.#findFault = options.findFault ?? findFault;
    this.#checkTarget =
      options.checkTarget ??
      ((fault, target) => checkTarget(fault, target, world.state() ?? { edges: [], instances: [] }));
  }

  /** Takes over what an earlier supervisor left in the undo file: it remains until it is healed. */
  async adopt(): Promise<void> {
    for (const record of await this.#log.open()) {
      this.#entries.set(record.id, {
        record,
        fault: this.#findFault(record.fault),
        isHeld: false,
        status: 'remains',
        injected: Promise.resolve(),
        problem: 'it was left by a supervisor that was killed',
      });
    }
  }

  /** The newest last; a few that have ended among them. */
  list(): readonly Lease[] {
    return [...this.#entries.values()].map(describe);
  }

  /** In effect, being taken back, or left over. */
  unfinished(): readonly Lease[] {
    return this.list().filter(({ status }) => status !== 'healed');
  }

  /** The same, with another look at those that wait for something to happen, or have not been seen yet. */
  async refresh(): Promise<readonly Lease[]> {
    for (const entry of this.#entries.values()) {
      const verdict = entry.status === 'active' ? entry.witness?.verdict : undefined;
      if (verdict === 'pending' || verdict === 'absent') entry.witness = await this.#witness(entry);
    }
    return this.list();
  }

  /** Of these faults those that should be in effect and are not in place any more: whatever holds them has lost them. */
  async lost(ids: readonly string[]): Promise<readonly string[]> {
    const active = [...this.#entries.values()].filter(
      ({ record, status }) => status === 'active' && ids.includes(record.id),
    );
    const found = await Promise.all(
      active.map(async ({ record, fault }) => {
        // What cannot be asked may have it still; that it does not answer is told of it by itself.
        const isThere = await fault.isInPlace?.(record.undo, this.#world).catch(() => true);
        return isThere === false ? [record.id] : [];
      }),
    );
    return found.flat();
  }

  /**
   * Checks everything, writes the undo to disk, injects, and looks whether the fault is in effect. Throws CliError: (2)
   * before anything has happened; otherwise what was done is taken back again. `gone` ends it early, a held one also later.
   */
  async inject(request: InjectRequest, gone: AbortSignal): Promise<Lease> {
    const fault = this.#findFault(request.fault);
    this.#checkTarget(fault, request.target);
    const parameters: FaultRecord['parameters'] = checkParameters(
      fault.parameters as TObject,
      readDurations(fault.parameters, request.parameters),
      fault.name,
    );
    this.#checkFree(fault, request.target, parameters);
    const problem = ttlProblem(request.ttlMs);
    if (problem) throw new CliError({ what: `the time to live is wrong: ${problem}`, exitCode: exitCodes.usage });
    const injection = { id: randomBytes(3).toString('hex'), target: request.target, parameters };
    const entry = await this.#enter(fault, injection, { request, gone });
    const { record } = entry;
    try {
      await this.#log.begin(record);
    } catch (cause) {
      this.#entries.delete(record.id);
      throw new CliError({ what: 'nothing was injected: its undo cannot be written', why: messageOf(cause), cause });
    }
    return this.#injectRecorded(entry, gone);
  }

  /** Looks at what takes it back. Its place is taken from before that look on, so that no other fault comes between. */
  async #enter(
    fault: AnyFault,
    injection: Pick<FaultRecord, 'id' | 'target' | 'parameters'>,
    { request, gone }: { readonly request: InjectRequest; readonly gone: AbortSignal },
  ): Promise<Entry> {
    const coming = { ...injection, fault: fault.name, status: 'injecting', since: new Date().toISOString() } as const;
    this.#coming.add(coming);
    try {
      const undo = (await fault.prepare(injection, this.#world)) as object;
      gone.throwIfAborted();
      const record: FaultRecord = {
        type: 'fault',
        ...injection,
        time: new Date().toISOString(),
        fault: fault.name,
        undo,
        ttlMs: request.ttlMs,
        ...(fault.needsPlatform && { needsPlatform: true }),
      };
      const entry: Entry = { record, fault, isHeld: request.hold, status: 'injecting', injected: Promise.resolve() };
      this.#entries.set(record.id, entry);
      return entry;
    } finally {
      this.#coming.delete(coming);
    }
  }

  /** Ends faults by id, or all; the newest first. Throws CliError (2) for an id that is none. */
  async clear(ids: readonly string[] | 'all', why: string): Promise<HealResult> {
    const unfinished = this.unfinished().map(({ id }) => id);
    const unknown = ids === 'all' ? [] : ids.filter((id) => !unfinished.includes(id));
    if (unknown.length > 0) {
      throw new CliError({
        what: `there is no active fault ${unknown.join(', ')}`,
        next: unfinished.length > 0 ? `active are ${unfinished.join(', ')}` : 'nothing is active',
        exitCode: exitCodes.usage,
      });
    }
    const chosen = [...this.#entries.values()].filter(({ record: { id }, status }) => {
      return status !== 'healed' && (ids === 'all' || ids.includes(id));
    });
    chosen.reverse();
    // One after the other: a later fault may hide whether an earlier one is gone.
    for (const entry of chosen) await this.#end(entry, why);
    const after = chosen.map(describe);
    return {
      healed: after.filter(({ status }) => status === 'healed'),
      remains: after.filter(({ status }) => status !== 'healed'),
    };
  }

  /** Injects again what a Toxiproxy that started anew has forgotten. */
  async reapply(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (entry.fault.kind !== 'toxic' && entry.fault.kind !== 'proxy') continue;
      // Its end waits for this: what is still on its way when it is removed would arrive afterwards and stay.
      entry.injected = entry.injected.then(() => this.#injectAgain(entry));
      await entry.injected;
    }
  }

  async #injectAgain({ record, fault, status }: Entry): Promise<void> {
    if (status !== 'active' && status !== 'injecting') return;
    await fault.inject(record, record.undo, this.#world).catch((error: unknown) => {
      // A toxic that is there still is refused (409), which is what was wanted.
      this.#events.add('chaos.reapplied', record.target, `${fault.name} was not injected again: ${messageOf(error)}`);
    });
  }

  /** Takes back what could not be while what holds it was away. */
  async retryRemains(why: string): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (entry.status === 'remains' && entry.fault.needsPlatform) await this.#end(entry, why);
    }
  }

  /** The platform ends: everything is taken back that would outlive it. */
  async endWithPlatform(): Promise<void> {
    for (const { id } of [...this.unfinished()].reverse()) {
      const entry = this.#entries.get(id) as Entry;
      if (entry.fault.endsWithPlatform)
        await this.#settle(entry, 'the platform ends', 'its processes end', performance.now());
      else await this.#end(entry, 'the platform ends');
    }
  }

  async #injectRecorded(entry: Entry, gone: AbortSignal): Promise<Lease> {
    const { record, fault } = entry;
    const leave = () => void this.#end(entry, 'its holder went away');
    entry.timer = setTimeout(() => void this.#end(entry, endsByItself.timeOver), record.ttlMs);
    const injecting = fault.inject(record, record.undo, this.#world);
    // Whoever ends it waits for this; the failure itself is told to the caller.
    entry.injected = injecting.catch(() => undefined);
    gone.addEventListener('abort', leave, { once: true });
    if (gone.aborted) leave();
    this.#tell(entry, 'chaos.injecting', 'being injected');
    try {
      await injecting;
      if (entry.status === 'injecting') entry.status = 'active';
      entry.witness = await this.#witness(entry);
      this.#tell(entry, 'chaos.injected', entry.witness.evidence);
    } catch (error) {
      await this.#end(entry, 'it could not be injected');
      throw notInjected(describe(entry), error);
    }
    if (fault.isMomentary) await this.#end(entry, endsByItself.momentary);
    // A detached one lives on when its command has gone with the answer.
    if (!entry.isHeld) gone.removeEventListener('abort', leave);
    return describe(entry);
  }

  /** One look at a time, whoever asks: a look is made with connections of our own. */
  #witness(entry: Entry): Promise<Witness> {
    const { record, fault } = entry;
    entry.looking ??= fault.witness(record, record.undo, this.#world).finally(() => {
      entry.looking = undefined;
    });
    return entry.looking;
  }

  /** Two at one place would take each other back; a fault says where it is at several places of one target. */
  #checkFree(fault: AnyFault, target: string, parameters: FaultRecord['parameters']): void {
    const other = [...this.unfinished(), ...this.#coming].find(
      (lease) =>
        lease.fault === fault.name &&
        lease.target === target &&
        fault.placeOf?.(lease.parameters) === fault.placeOf?.(parameters),
    );
    if (!other) return;
    throw new CliError({
      what: `${fault.name} acts on ${target} already`,
      why: `${other.id} (${other.status}) has done so since ${other.since}`,
      next: `end it first with "shopctl chaos clear ${other.id}"`,
      exitCode: exitCodes.usage,
    });
  }

  #end(entry: Entry, why: string): Promise<void> {
    if (entry.status === 'healed') return Promise.resolve();
    entry.ending ??= this.#undo(entry, why).finally(() => {
      entry.ending = undefined;
    });
    return entry.ending;
  }

  /** Never rejects: what went wrong is told by the lease. */
  async #undo(entry: Entry, why: string): Promise<void> {
    const { record, fault } = entry;
    clearTimeout(entry.timer);
    const began = performance.now();
    entry.status = 'ending';
    this.#tell(entry, 'chaos.ending', why);
    await entry.injected;
    let evidence: string;
    try {
      const undone = (async (): Promise<string> => {
        await fault.undo(record.undo, this.#world);
        return fault.verify(record.undo, this.#world);
      })();
      evidence = await within(undone, fault.undoLimitMs ?? UNDO_LIMIT_MS, `the undo of ${fault.name}`);
    } catch (error) {
      entry.status = 'remains';
      entry.problem = messageOf(error);
      this.#tell(entry, 'chaos.remains', entry.problem);
      return;
    }
    await this.#settle(entry, why, evidence, began);
  }

  /** Never rejects: what was seen to be gone is gone, whether that can be written down or not. */
  async #settle(entry: Entry, why: string, evidence: string, began: number): Promise<void> {
    clearTimeout(entry.timer);
    const unwritten = await this.#record({ id: entry.record.id, time: new Date().toISOString(), why, evidence });
    entry.status = 'healed';
    entry.problem = undefined;
    entry.end = { why, tookMs: Math.round(performance.now() - began), evidence: `${evidence}${unwritten}` };
    this.#tell(entry, 'chaos.healed', `${why}: ${entry.end.evidence}`);
    const ended = [...this.#entries].filter(([, { status }]) => status === 'healed').map(([id]) => id);
    for (const id of ended.slice(0, -KEPT_ENDED)) this.#entries.delete(id);
  }

  /** Resolves with what to add to the evidence when the disk does not take it (full, read-only): the next start asks again. */
  async #record(healed: Parameters<UndoLog['healed']>[0]): Promise<string> {
    try {
      await this.#log.healed(healed);
      return '';
    } catch (error) {
      return `; this could not be written to the undo log: ${messageOf(error)}`;
    }
  }

  #tell({ record, fault }: Entry, type: string, message: string): void {
    const how = writeParameters(fault.parameters, record.parameters);
    this.#events.add(type, record.target, `${record.id} ${fault.name}${how === '' ? '' : ` (${how})`}: ${message}`);
    this.#onChange();
  }
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

/** The injection's own error, with what became of what it had done. */
function notInjected({ fault, target, status, problem }: Lease, cause: unknown): CliError {
  const isClean = status === 'healed';
  const own = cause instanceof CliError ? cause : undefined;
  return new CliError({
    what: `${fault} could not be injected into ${target}`,
    why: isClean ? messageOf(cause) : `${messageOf(cause)}\nwhat was done could not be taken back: ${problem}`,
    next: isClean ? (own?.next ?? 'nothing is left of it; see "shopctl status"') : 'run "shopctl chaos heal"',
    exitCode: isClean ? (own?.exitCode ?? exitCodes.failed) : exitCodes.dirty,
    cause,
  });
}
