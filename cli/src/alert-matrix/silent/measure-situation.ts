import { messageOf } from '../../errors.ts';
import type { PagerReader } from '../../pager/pager-reader.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { Shipments } from '../customers.ts';
import { firingsSince, lostSince } from '../firings.ts';
import type { MixedLoad } from '../mixed-load.ts';
import { confirmedIn, type OrderOutcome, secondsOf, shipmentsOf, shippedUntil } from '../order-outcomes.ts';
import type { SituationRecord } from './journal.ts';
import { type Disturbance, type Part, type Situation, suspendedMs } from './situations.ts';

/** What a situation is measured with, on a separate platform. */
export interface SituationPorts {
  readonly platform: string;
  /** When the platform was being started; wall clock, ms. Pages of its start count. */
  readonly startedAt: number;
  readonly clock: RunClock;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  /** `number` is that of the part. */
  startLoad(part: Part, number: number): MixedLoad;
  /** Ends what it does when `forMs` are over, or when the run is interrupted. */
  disturb(disturbance: Disturbance, forMs: number): Promise<void>;
  readonly pager: Pick<PagerReader, 'history'>;
  /** Of these orders those that are shipped, with the time; wall clock, ms. */
  shippedAt(orderIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** How many scrapes of the last seconds took place. */
  scrapes(seconds: number): Promise<number>;
}

/** A page that a situation causes has come by then: no rule waits longer, ms. */
const AFTERWARDS_MS = 20_000;
const POLL_MS = 500;
/** Above these shares the machine was too busy to say anything. */
const MOST = { lateSends: 0.05, missedScrapes: 0.1 } as const;

interface Measured {
  readonly outcomes: OrderOutcome[];
  sent: number;
  late: number;
}

/** Rejects when the run is interrupted; whatever else is wrong is a problem of the record, which makes it unknown. */
export async function measureSituation(situation: Situation, ports: SituationPorts): Promise<SituationRecord> {
  const { clock, signal, startedAt } = ports;
  const measured: Measured = { outcomes: [], sent: 0, late: 0 };
  const problems: string[] = [];
  const began = clock.date().getTime();
  try {
    for (const [index, part] of situation.parts.entries()) await carryOut(part, index, { measured, ports });
    await clock.sleep(AFTERWARDS_MS, signal);
  } catch (error) {
    signal.throwIfAborted();
    problems.push(messageOf(error));
  }
  const tookMs = clock.date().getTime() - began;
  const endedMs = clock.date().getTime() - startedAt;
  const scraped = await problemsOfScrapes(tookMs, suspendedMs(situation), ports);
  const shipments = await readShipments(measured.outcomes, problems, ports);
  const history = await ports.pager.history();
  return {
    type: 'situation',
    situation,
    platform: ports.platform,
    startedAt: new Date(startedAt).toISOString(),
    endedMs,
    orders: measured.sent,
    seconds: secondsOf(measured.outcomes, startedAt),
    shipments,
    firings: firingsSince(history, startedAt),
    problems: [...problems, ...problemsOfLoad(measured), ...scraped, ...lostSince(history, startedAt)],
  };
}

async function carryOut(
  part: Part,
  number: number,
  { measured, ports }: { readonly measured: Measured; readonly ports: SituationPorts },
): Promise<void> {
  const load = part.rate > 0 ? ports.startLoad(part, number) : undefined;
  try {
    const ends = [ports.clock.sleep(part.forMs, ports.signal)];
    if (part.meanwhile !== undefined) ends.push(ports.disturb(part.meanwhile, part.forMs));
    // Also the one that goes on when the other one failed: what it did is undone then.
    const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    await load?.stop();
    measured.outcomes.push(...(load?.outcomes ?? []));
    measured.sent += load?.sent.sent ?? 0;
    measured.late += load?.sent.late ?? 0;
  }
}

function problemsOfLoad({ sent, late }: Measured): readonly string[] {
  return late > MOST.lateSends * sent ? [`${late} of ${sent} orders were sent late: the machine is too busy`] : [];
}

/** One a second, but for the time without a running process. */
async function problemsOfScrapes(
  tookMs: number,
  suspended: number,
  { scrapes, signal }: SituationPorts,
): Promise<readonly string[]> {
  try {
    const share = ((await scrapes(Math.floor(tookMs / 1_000))) * 1_000) / (tookMs - suspended);
    return share < 1 - MOST.missedScrapes ? [`Prometheus had ${Math.round(share * 100)} % of its scrapes`] : [];
  } catch (error) {
    signal.throwIfAborted();
    return [`Prometheus cannot be asked: ${messageOf(error)}`];
  }
}

/** Waits for those that are due. Undefined where the database does not respond. */
async function readShipments(
  outcomes: readonly OrderOutcome[],
  problems: string[],
  { clock, signal, shippedAt }: SituationPorts,
): Promise<Shipments | undefined> {
  const confirmed = confirmedIn(outcomes);
  const ids = confirmed.map(({ id }) => id);
  try {
    for (;;) {
      const shipped = await shippedAt(ids);
      if (shipped.size >= ids.length || clock.date().getTime() >= shippedUntil(confirmed)) {
        return shipmentsOf(confirmed, shipped);
      }
      await clock.sleep(POLL_MS, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    problems.push(`the shipments cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}
