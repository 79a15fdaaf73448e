import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CliError, messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** What clients were told, order by order. */
export interface History {
  /** Orders whose status a client was told. */
  readonly acknowledged: ReadonlyMap<string, 'Confirmed' | 'Cancelled'>;
  /** Told both statuses. */
  readonly flipped: ReadonlySet<string>;
  /** Orders whose id is known although the answer was not a clear one. */
  readonly unclear: ReadonlySet<string>;
  /** Orders of unknown id that requests without a clear answer may have made: one each, and one for all of a key. */
  readonly unclearWithoutId: number;
  /** First and last time in the file, ms since 1970; undefined when it has none. */
  readonly window: { readonly from: number; readonly to: number } | undefined;
}

/**
 * Reads NDJSON, one request a line: `{orderId, status, time, key}`. `status` is what the client was told: `Confirmed`,
 * `Cancelled`, `rejected` (a problem that says nothing was recorded), anything else or nothing for no clear answer.
 * `time` (optional) is ISO or ms since 1970, `key` (optional) the Idempotency-Key: its requests make one order. Throws CliError (2) that names the first line it cannot read.
 */
export async function readHistory(file: string): Promise<History> {
  const acknowledged = new Map<string, 'Confirmed' | 'Cancelled'>();
  const flipped = new Set<string>();
  const unclear = new Set<string>();
  let withoutKey = 0;
  const unclearKeys = new Set<string>();
  const knownKeys = new Set<string>();
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for await (const { orderId, status, time, key } of entriesOf(file)) {
    if (time !== undefined) [from, to] = [Math.min(from, time), Math.max(to, time)];
    if (status === 'rejected') continue;
    if (orderId !== undefined && key !== undefined) knownKeys.add(key);
    if (orderId !== undefined && (status === 'Confirmed' || status === 'Cancelled')) {
      if ((acknowledged.get(orderId) ?? status) !== status) flipped.add(orderId);
      acknowledged.set(orderId, status);
    } else if (orderId !== undefined) unclear.add(orderId);
    else if (key !== undefined) unclearKeys.add(key);
    else withoutKey++;
  }
  const unclearWithoutId = withoutKey + unclearKeys.difference(knownKeys).size;
  const window = from <= to ? { from, to } : undefined;
  return { acknowledged, flipped, unclear, unclearWithoutId, window };
}

interface Entry {
  readonly orderId: string | undefined;
  readonly status: string | undefined;
  readonly time: number | undefined;
  readonly key: string | undefined;
}

async function* entriesOf(file: string): AsyncGenerator<Entry> {
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number++;
      if (line.trim() !== '') yield parseEntry(line);
    }
  } catch (cause) {
    throw new CliError({
      what: `cannot read the history ${file}`,
      why: number === 0 ? messageOf(cause) : `line ${number}: ${messageOf(cause)}`,
      next: 'give a file with one JSON object a line: {"orderId": "...", "status": "Confirmed", "time": "..."}',
      exitCode: exitCodes.usage,
      cause,
    });
  }
}

function parseEntry(line: string): Entry {
  const entry = JSON.parse(line) as Readonly<Record<string, unknown>> | null;
  if (typeof entry !== 'object' || entry === null) throw new Error('not a JSON object');
  const { orderId, status, time, key } = entry;
  const at = typeof time === 'number' ? time : typeof time === 'string' ? Date.parse(time) : undefined;
  if (Number.isNaN(at)) throw new Error('"time" is neither ISO nor a number');
  return {
    orderId: typeof orderId === 'string' ? orderId.toLowerCase() : undefined,
    status: typeof status === 'string' ? status : undefined,
    time: at,
    key: typeof key === 'string' ? key : undefined,
  };
}
