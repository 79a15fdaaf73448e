import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CliError, messageOf } from '../errors.ts';

/** The response to a client about an order. */
export interface IterationCoverage {
  readonly status: 'Confirmed' | 'Cancelled';
  /** Undefined when the file does not say it. */
  readonly reason: string | undefined;
  /** When the client got its last response, ms since 1970; undefined when the file does not say it. */
  readonly time?: number | undefined;
}

/** The responses of clients, order by order. */
export interface History {
  /** Orders whose status a client received. */
  readonly acknowledged: ReadonlyMap<string, IterationCoverage>;
  /** With both statuses, or two reasons. */
  readonly flipped: ReadonlySet<string>;
  /** Orders whose id is known although the response was not clear. */
  readonly unclear: ReadonlySet<string>;
  /** Keys of requests without a clear response: each may have made one order, whose id no client received. */
  readonly unclearKeys: ReadonlySet<string>;
  /** Requests without key, id and clear response: each may have made one order. */
  readonly unclearWithoutKey: number;
  /** First and last time in the file, ms since 1970; undefined when it has none. */
  readonly window: { readonly from: number; readonly to: number } | undefined;
}

/**
 * Reads NDJSON, one request a line: `{orderId, status, reason, time, key}`. `status` is of the response to the client:
 * `Confirmed`, `Cancelled`, `rejected` (a problem that says nothing was recorded), anything else or nothing for no
 * clear response. `reason` (optional) is why the order was Cancelled. `time` (optional) is ISO or ms since 1970, `key`
 * (optional) the Idempotency-Key: its requests make one order. Throws CliError (2) that names the first line it cannot
 * read.
 */
export async function readHistory(file: string): Promise<History> {
  const acknowledged = new Map<string, IterationCoverage>();
  const flipped = new Set<string>();
  const unclear = new Set<string>();
  let withoutKey = 0;
  const unclearKeys = new Set<string>();
  const knownKeys = new Set<string>();
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for await (const { orderId, status, reason, time, key } of entriesOf(file)) {
    if (time !== undefined) [from, to] = [Math.min(from, time), Math.max(to, time)];
    if (status === 'rejected') continue;
    if (orderId !== undefined && key !== undefined) knownKeys.add(key);
    if (orderId !== undefined && (status === 'Confirmed' || status === 'Cancelled')) {
      const before = acknowledged.get(orderId);
      if (before !== undefined && !agree(before, { status, reason })) flipped.add(orderId);
      acknowledged.set(orderId, { status, reason: reason ?? before?.reason, time });
    } else if (orderId !== undefined) unclear.add(orderId);
    else if (key !== undefined) unclearKeys.add(key);
    else withoutKey++;
  }
  const window = from <= to ? { from, to } : undefined;
  const stillUnclear = unclearKeys.difference(knownKeys);
  return { acknowledged, flipped, unclear, unclearKeys: stillUnclear, unclearWithoutKey: withoutKey, window };
}

function agree(one: IterationCoverage, other: IterationCoverage): boolean {
  if (one.status !== other.status) return false;
  return one.reason === undefined || other.reason === undefined || one.reason === other.reason;
}

interface Entry {
  readonly orderId: string | undefined;
  readonly status: string | undefined;
  readonly reason: string | undefined;
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
      code: 'invalid_history',
      what: `cannot read the history ${file}`,
      why: number === 0 ? messageOf(cause) : `line ${number}: ${messageOf(cause)}`,
      next: 'give a file with one JSON object a line: {"orderId": "...", "status": "Confirmed", "time": "..."}',
      cause,
    });
  }
}

function parseEntry(line: string): Entry {
  const entry = JSON.parse(line) as Readonly<Record<string, unknown>> | null;
  if (typeof entry !== 'object' || entry === null) throw new Error('not a JSON object');
  const { orderId, status, reason, time, key } = entry;
  const at = typeof time === 'number' ? time : typeof time === 'string' ? Date.parse(time) : undefined;
  if (Number.isNaN(at)) throw new Error('"time" is neither ISO nor a number');
  return {
    orderId: typeof orderId === 'string' ? orderId.toLowerCase() : undefined,
    status: typeof status === 'string' ? status : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
    time: at,
    key: typeof key === 'string' ? key : undefined,
  };
}
