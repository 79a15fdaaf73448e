/**
 * One stretch of load on the gateway, by k6 and by the client of ours, and what is done meanwhile. Both send half of the orders.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesOf, type RunningK6, startK6 } from '../../../cli/src/load/k6-process.ts';
import { readSummary } from '../../../cli/src/load/k6-summary.ts';
import { createRecordReader, parseRecord } from '../../../cli/src/load/records.ts';
import { waitUntil } from '../../../cli/src/shared/wait-until.ts';
import type { Connection, Connections } from '../../../scenarios/bench/connections.ts';
import type { ReadRecord } from '../../../scenarios/bench/read-record.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { failureOfOrder, failureOfRead } from './outcomes.ts';
import { type Pace, startOwnClient } from './own-client.ts';
import type { Counted } from './tally.ts';

export interface BatchOptions {
  readonly gatewayUrl: string;
  /** Orders a second of both together; each is read back. */
  readonly rate: number;
  readonly connections: Connections;
  readonly durationS: number;
  /** Of the records: the service that is restarted. */
  readonly phase: string;
  /** Begins every Idempotency-Key, and is no other batch's. */
  readonly keys: string;
  readonly k6: { readonly program: string; readonly root: string; readonly folder: string };
  /** An order of our own client has its response. */
  onOrder(record: OrderRecord): void;
}

export interface Batch {
  readonly counted: readonly Counted[];
  readonly orders: readonly OrderRecord[];
  readonly pace: Pace;
  /** Orders that k6 did not start, as all its users waited for responses. */
  readonly k6Dropped: number;
}

/** Longest wait for the first requests of k6, ms. */
const K6_START_LIMIT_MS = 30_000;

/**
 * Runs the load for its duration. `work` begins once both clients send; `untilMs` (monotonic) is the end of the load. Rejects
 * when k6 does not run, or ends early.
 */
export async function runBatch(options: BatchOptions, work: (untilMs: number) => Promise<void>): Promise<Batch> {
  const { durationS, phase, keys, rate } = options;
  const folder = join(options.k6.folder, keys);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ownRate = Math.floor(rate / 2);
  const k6 = await startK6({
    ...options.k6,
    folder,
    scenario: 'bench/restarts',
    settings: { rate: rate - ownRate, durationS, vus: 0, hasFault: false },
    variables: { SHOP_CONNECTIONS: options.connections },
    seed: 1,
    runId: `${keys}-k6`,
    gatewayUrl: options.gatewayUrl,
  });
  try {
    const endsMs = (await firstOrder(k6, filesOf(folder).console)) + durationS * 1_000;
    const counted: Counted[] = [];
    const orders: OrderRecord[] = [];
    const own = startOwnClient({
      ...options,
      rate: ownRate,
      keys: `${keys}-own`,
      onOrder(record) {
        orders.push(record);
        counted.push(countOrder(record, 'own'));
        options.onOrder(record);
      },
      onRead: (record) => counted.push(countRead(record, 'own')),
    });
    let pace: Pace;
    try {
      await Promise.all([work(endsMs), k6.ended]);
    } finally {
      pace = await own.stop();
    }
    const ofK6 = await readK6(k6, folder);
    for (const order of ofK6.orders) orders.push({ ...order, phase });
    return { counted: [...counted, ...ofK6.counted], orders, pace, k6Dropped: ofK6.dropped };
  } finally {
    await k6.stop();
  }
}

/** What k6 has counted. Rejects when it did not come to its end. */
async function readK6(k6: RunningK6, folder: string) {
  const files = filesOf(folder);
  const code = await k6.ended;
  if (code !== 0) throw new Error(`k6 ended with ${code}: ${await k6.messages()}`);
  const summary = await readSummary(files.summary);
  if (typeof summary === 'string') throw new Error(`k6 left no summary: ${summary}`);
  const lines = (await readFile(files.console, 'utf8')).split('\n');
  const orders = lines.flatMap((line) => parseRecord(line) ?? []);
  const reads = lines.flatMap((line) => parseRead(line) ?? []);
  const counted = [...orders.map((order) => countOrder(order, 'k6')), ...reads.map((read) => countRead(read, 'k6'))];
  return { orders, counted, dropped: summary.dropped };
}

/** When k6 sent its first order, on the monotonic clock. */
async function firstOrder(k6: RunningK6, file: string): Promise<number> {
  let hasEnded = false;
  void k6.ended.then(() => {
    hasEnded = true;
  });
  const reader = createRecordReader(file);
  return waitUntil('the first order of k6', K6_START_LIMIT_MS, async () => {
    const [first] = await reader.read();
    if (first !== undefined) return performance.now() - (Date.now() - first.at);
    if (hasEnded) throw new Error(`k6 ended before its first order: ${await k6.messages()}`);
    return undefined;
  });
}

function parseRead(line: string): ReadRecord | undefined {
  return line.startsWith('{"read":') ? (JSON.parse(line) as ReadRecord) : undefined;
}

function countOrder(record: OrderRecord, client: Counted['client']): Counted {
  const { opened, tookMs } = record;
  return { client, connection: connectionOf(opened), what: 'order', tookMs, failure: failureOfOrder(record) };
}

function countRead(record: ReadRecord, client: Counted['client']): Counted {
  const { opened, tookMs } = record;
  return { client, connection: connectionOf(opened), what: 'read', tookMs, failure: failureOfRead(record) };
}

/** The first request of a kept connection is one on a new connection: a listener that closes may reset it. */
function connectionOf(opened: boolean): Connection {
  return opened ? 'new' : 'kept';
}
