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
  /** Requests without a clear answer and without an id: each may have made one order. */
  readonly unclearWithoutId: number;
  /** First and last time in the file, ms since 1970; undefined when it has none. */
  readonly window: { readonly from: number; readonly to: number } | undefined;
}

/**
 * Reads NDJSON, one request a line: `{orderId, status, time}`. `status` is what the client was told: `Confirmed`,
 * `Cancelled`, `rejected` (a problem that says nothing was recorded), anything else or nothing for no clear answer.
 * `time` (optional) is ISO or ms since 1970. Throws CliError (2) that names the first line it cannot read.
 */
export async function readHistory(file: string): Promise<History> {
  const acknowledged = new Map<string, 'Confirmed' | 'Cancelled'>();
  const flipped = new Set<string>();
  const unclear = new Set<string>();
  let unclearWithoutId = 0;
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for await (const { orderId, status, time } of entriesOf(file)) {
    if (time !== undefined) [from, to] = [Math.min(from, time), Math.max(to, time)];
    if (status === 'rejected') continue;
    if (orderId !== undefined && (status === 'Confirmed' || status === 'Cancelled')) {
      if ((acknowledged.get(orderId) ?? status) !== status) flipped.add(orderId);
      acknowledged.set(orderId, status);
    } else if (orderId === undefined) unclearWithoutId++;
    else unclear.add(orderId);
  }
  const window = from <= to ? { from, to } : undefined;
  return { acknowledged, flipped, unclear, unclearWithoutId, window };
}

interface Entry {
  readonly orderId: string | undefined;
  readonly status: string | undefined;
  readonly time: number | undefined;
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
  const entry = JSON.parse(line) as { orderId?: unknown; status?: unknown; time?: unknown } | null;
  if (typeof entry !== 'object' || entry === null) throw new Error('not a JSON object');
  const { orderId, status, time } = entry;
  const at = typeof time === 'number' ? time : typeof time === 'string' ? Date.parse(time) : undefined;
  if (Number.isNaN(at)) throw new Error('"time" is neither ISO nor a number');
  return {
    orderId: typeof orderId === 'string' ? orderId.toLowerCase() : undefined,
    status: typeof status === 'string' ? status : undefined,
    time: at,
  };
}
