import type { FaultSession } from '../chaos/fault-session.ts';
import { endsAutomatically, type Lease } from '../chaos/lease.ts';
import { messageOf } from '../errors.ts';
import { describeAlerts, type PagerReader } from '../pager/pager-reader.ts';
import type { RunClock } from '../shared/clock.ts';
import type { Shipments } from './customers.ts';
import { firingsSince, isSlowToClear, lostSince } from './firings.ts';
import type { PairRecord } from './journal.ts';
import type { MixedLoad } from './mixed-load.ts';
import { confirmedIn, isCounted, isFailed, secondsOf, shipmentsOf, shippedUntil } from './order-outcomes.ts';
import type { Pair } from './pair.ts';

/** How long the parts of a pair last, ms. */
export interface PairTimes {
  readonly steadyMs: number;
  readonly backlogMs: number;
  readonly faultMs: number;
  /** Longest time from the revert until no page fires that clears within seconds. */
  readonly clearMs: number;
}

/**
 * The load before a fault is part of each window during it: with less of it, alerts would fire sooner than they do. The slowest pages need
 * 35 to 43 s: compensations that wait for 30 s, and the audit of orders that are as old.
 */
const pairTimes: PairTimes = { steadyMs: 20_000, backlogMs: 20_000, faultMs: 45_000, clearMs: 60_000 };

/** What a pair is measured with, on one platform. */
export interface PairPorts {
  readonly platform: string;
  readonly clock: RunClock;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Prometheus begins without samples; resolves when it evaluates alerts again. */
  emptyPrometheus(): Promise<void>;
  startLoad(): MixedLoad;
  readonly pager: PagerReader;
  readonly faults: Pick<FaultSession, 'inject' | 'refresh' | 'revert'>;
  /** Of these orders those that are shipped, with the time; wall clock, ms. */
  shippedAt(orderIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Share of the scrapes of the last seconds that took place. */
  scrapedShare(seconds: number): Promise<number>;
}

/** Alerts of the pair before are over 20 s after its Prometheus has ended. */
const QUIET_MS = 40_000;
const POLL_MS = 500;
/** A shipment that takes longer than 15 s is late: then it is known to be. */
const KNOWN_LATE_MS = 16_000;
/** From the last that a fault has caused to its page: conditions last 5 s at most before they fire, and 3 s until that has arrived. */
const SHOWN_MS = 8_000;
const WITNESS_MS = 5_000;
const TTL_SLACK_MS = 60_000;
/** Above these shares what was measured is not what was asked for. */
const MOST = { failedBefore: 0.02, lateSends: 0.05, missedScrapes: 0.1 } as const;

/** Faults are left, and the run was interrupted. */
export class NotRevertedError extends Error {
  override readonly name = 'NotRevertedError';
  readonly notReverted: readonly string[];

  constructor(notReverted: readonly string[]) {
    super(`not reverted: ${notReverted.join('; ')}`);
    this.notReverted = notReverted;
  }
}

/** A pair as it is being measured. */
interface Measuring {
  readonly pair: Pair;
  readonly ports: PairPorts;
  readonly times: PairTimes;
  readonly load: MixedLoad;
  readonly problems: string[];
  injectedMs?: number;
  revertedMs?: number;
  witness?: string;
  /** Its fault happened once: nothing changes when it is reverted. */
  isMomentary: boolean;
}

/**
 * Measures one pair: steady load, fault, revert, and the time until no page fires but for slow ones. Whatever is wrong with that is a problem
 * of the record, which makes the pair unknown. Rejects only when the run is interrupted: with NotRevertedError where faults are left.
 */
export async function measurePair(pair: Pair, ports: PairPorts, times: PairTimes = pairTimes): Promise<PairRecord> {
  await ports.emptyPrometheus();
  const measuring: Measuring = { pair, ports, times, load: ports.startLoad(), problems: [], isMomentary: false };
  const notReverted = await carryOut(measuring);
  return conclude(measuring, notReverted);
}

/** Resolves with the faults that could not be reverted, when the load is over. */
async function carryOut(measuring: Measuring): Promise<readonly string[]> {
  const { ports, problems, load } = measuring;
  const { faults, signal } = ports;
  try {
    await untilSteady(measuring);
    if (problems.length > 0) return [];
    await underFault(measuring);
    const { notReverted } = await faults.revert();
    const revertedMs = sinceStart(measuring);
    measuring.revertedMs = revertedMs;
    if (!measuring.isMomentary) await untilShown(measuring, revertedMs);
    await untilClear(measuring, revertedMs);
    return notReverted;
  } catch (error) {
    const { notReverted } = await faults.revert();
    if (signal.aborted) throw notReverted.length > 0 ? new NotRevertedError(notReverted) : error;
    problems.push(messageOf(error));
    return notReverted;
  } finally {
    await load.stop();
  }
}

/** Before the fault nothing may be wrong, and no alert of an earlier pair may fire any more. */
async function untilSteady(measuring: Measuring): Promise<void> {
  const { ports, load, times, problems } = measuring;
  await ports.clock.sleep(times.steadyMs, ports.signal);
  const before = () => load.outcomes.filter(isCounted);
  const firing = await untilNothing(measuring, QUIET_MS, async () => {
    const alerts = (await ports.pager.view()).alerts.filter(({ severity }) => severity !== 'none');
    return alerts.length === 0 ? undefined : describeAlerts(alerts);
  });
  if (firing !== undefined) problems.push(`before the fault, alerts fired: ${firing}`);
  const failed = before().filter(isFailed).length;
  if (failed > MOST.failedBefore * before().length) {
    problems.push(`before the fault, ${failed} of ${before().length} orders failed`);
  }
}

async function underFault(measuring: Measuring): Promise<void> {
  const { pair, ports, times } = measuring;
  const { clock, signal, faults } = ports;
  if (pair.backlog !== undefined) {
    measuring.injectedMs = sinceStart(measuring);
    await inject(BACKLOG, pair.backlog, measuring);
    await clock.sleep(times.backlogMs, signal);
  }
  const lease = await inject(FAULT, pair, measuring);
  measuring.injectedMs ??= Date.parse(lease.since) - measuring.load.startedAt;
  measuring.isMomentary = lease.end?.why === endsAutomatically.momentary;
  if (pair.backlog !== undefined) await faults.revert(BACKLOG);
  const { witness } = await untilWitnessed(lease, measuring);
  measuring.witness = witness?.evidence ?? '';
  if (witness?.verdict !== 'observed') {
    measuring.problems.push(`the fault was not seen in effect: ${witness?.evidence ?? 'it was never observed'}`);
  }
  const leftMs = measuring.injectedMs + times.faultMs - sinceStart(measuring);
  if (leftMs > 0) await clock.sleep(leftMs, signal);
}

const FAULT = 'fault';
const BACKLOG = 'backlog';

function inject(
  step: string,
  { fault, target, parameters }: Pick<Pair, 'fault' | 'target' | 'parameters'>,
  measuring: Measuring,
) {
  const { ports, times } = measuring;
  const ttlMs = times.backlogMs + times.faultMs + TTL_SLACK_MS;
  return ports.faults.inject(step, { fault, target, parameters, ttlMs, hold: true }, ports.signal);
}

async function untilWitnessed(lease: Lease, measuring: Measuring): Promise<Lease> {
  let latest = lease;
  await untilNothing(measuring, WITNESS_MS, async () => {
    if (latest.witness?.verdict === 'observed') return undefined;
    latest = (await measuring.ports.faults.refresh(lease.id)) ?? latest;
    return latest.witness?.verdict === 'observed' ? undefined : 'not yet';
  });
  return latest;
}

/** Until every order that met the fault has its response and its shipment, or these are late, and until their pages have fired. */
async function untilShown(measuring: Measuring, revertedMs: number): Promise<void> {
  const { ports, load } = measuring;
  const { sent } = load.sent;
  const until = load.startedAt + revertedMs;
  await untilNothing(measuring, KNOWN_LATE_MS, async () => {
    const met = load.outcomes.filter(({ sentAt }) => sentAt <= until);
    if (met.length < sent) return 'orders have no response';
    const confirmed = confirmedIn(met);
    // What cannot be read now is read again at the end, and is a problem then.
    const shipped = await ports.shippedAt(confirmed.map(({ id }) => id)).catch(messageOf);
    if (typeof shipped === 'string') return shipped;
    return shipped.size < confirmed.length ? 'orders have no shipment' : undefined;
  });
  await ports.clock.sleep(SHOWN_MS, ports.signal);
}

/** Pages that look back over minutes fire on for as long, whatever happens: nothing is learned by waiting for them. */
async function untilClear(measuring: Measuring, revertedMs: number): Promise<void> {
  const { ports, times } = measuring;
  const leftMs = revertedMs + times.clearMs - sinceStart(measuring);
  await untilNothing(measuring, leftMs, async () => {
    const pages = (await ports.pager.view()).alerts.filter(
      ({ severity, alertname, labels }) => severity === 'page' && !isSlowToClear({ alertname, burn: labels.burn }),
    );
    return pages.length === 0 ? undefined : describeAlerts(pages);
  });
}

/** Looks until there is nothing, and resolves then with undefined; after the limit with what there is still. */
async function untilNothing(
  { ports: { clock, signal } }: Pick<Measuring, 'ports'>,
  limitMs: number,
  look: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const deadline = clock.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (seen === undefined || clock.now() >= deadline) return seen;
    await clock.sleep(POLL_MS, signal);
  }
}

async function conclude(measuring: Measuring, notReverted: readonly string[]): Promise<PairRecord> {
  const { pair, ports, load, problems, injectedMs, revertedMs, witness } = measuring;
  const endedMs = sinceStart(measuring);
  const shipments = await readShipments(measuring);
  const history = await ports.pager.history();
  return {
    type: 'pair',
    pair,
    platform: ports.platform,
    startedAt: new Date(load.startedAt).toISOString(),
    ...(injectedMs !== undefined && { injectedMs }),
    ...(revertedMs !== undefined && { revertedMs }),
    endedMs,
    seconds: secondsOf(load.outcomes, load.startedAt),
    shipments,
    firings: firingsSince(history, load.startedAt),
    ...(witness !== undefined && { witness }),
    problems: [...problems, ...(await problemsOfEvidence(measuring, endedMs)), ...lostSince(history, load.startedAt)],
    notReverted,
  };
}

/** Waits for those that are due. Undefined where the database does not respond. */
async function readShipments({ ports, load, problems }: Measuring): Promise<Shipments | undefined> {
  const confirmed = confirmedIn(load.outcomes);
  const ids = confirmed.map(({ id }) => id);
  const leftMs = shippedUntil(confirmed) - ports.clock.date().getTime();
  try {
    let shippedAt = await ports.shippedAt(ids);
    await untilNothing({ ports }, leftMs, async () => {
      shippedAt = await ports.shippedAt(ids);
      return shippedAt.size < ids.length ? 'shipments are due' : undefined;
    });
    return shipmentsOf(confirmed, shippedAt);
  } catch (error) {
    ports.signal.throwIfAborted();
    problems.push(`the shipments cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

/** A machine that is too busy for the load, or for Prometheus, shows nothing about alerts. */
async function problemsOfEvidence({ pair, ports, load }: Measuring, endedMs: number): Promise<readonly string[]> {
  const { sent: all, late } = load.sent;
  const scraped = await ports.scrapedShare(Math.floor(endedMs / 1_000)).catch((error: unknown) => messageOf(error));
  return [
    ...(late > MOST.lateSends * all ? [`${late} of ${all} orders were sent late: the machine is too busy`] : []),
    ...(typeof scraped === 'string' ? [`the scrapes are not known: ${scraped}`] : []),
    ...(typeof scraped === 'number' && !pair.endsScrapes && scraped < 1 - MOST.missedScrapes
      ? [`Prometheus scraped ${Math.round(scraped * 100)} % of the seconds: the machine is too busy`]
      : []),
  ];
}

function sinceStart({ ports, load }: Pick<Measuring, 'ports' | 'load'>): number {
  return ports.clock.date().getTime() - load.startedAt;
}
