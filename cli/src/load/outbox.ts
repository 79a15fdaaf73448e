import { poll } from '../shared/wait-until.ts';
import type { ShopDatabases } from '../shop/databases.ts';

/** What waits between the responses and the shipments. */
export interface Backlog {
  readonly atMs: number;
  /** Events that are not published. */
  readonly pending: number;
  /** Sagas that have not come to their end. */
  readonly open: number;
}

/** Looks into the orders database. Rejects when it cannot be asked. */
export async function readBacklog(
  databases: ShopDatabases,
  nowMs: () => number = performance.now.bind(performance),
): Promise<Backlog> {
  const [row] = await databases.query<{ pending: number; open: number }>(
    'orders',
    `SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::int AS pending,
       (SELECT count(*) FROM orders WHERE open)::int AS open`,
  );
  if (row === undefined) throw new Error('the orders database counted nothing');
  return { atMs: nowMs(), ...row };
}

/** The most events that waited at one look; undefined when there was no look. */
export function peakOf(backlogs: readonly Backlog[]): number | undefined {
  return backlogs.length === 0 ? undefined : backlogs.reduce((most, { pending }) => Math.max(most, pending), 0);
}

export interface Drain {
  /** From the end of the load until nothing waited, ms; undefined when something still did. */
  readonly tookMs: number | undefined;
  readonly last: Backlog;
}

const POLL_MS = 100;

/** Waits at most `limitMs` until nothing waits. Rejects when it cannot be seen, and when `signal` aborts. */
export async function untilDrained(
  look: () => Promise<Backlog>,
  { sinceMs, limitMs, signal }: { sinceMs: number; limitMs: number; signal: AbortSignal },
): Promise<Drain> {
  const lookForEnd = async (): Promise<Drain | undefined> => {
    const last = await look();
    const tookMs = Math.max(0, Math.round(last.atMs - sinceMs));
    if (last.pending === 0 && last.open === 0) return { tookMs, last };
    return tookMs >= limitMs ? { tookMs: undefined, last } : undefined;
  };
  return poll(lookForEnd, { everyMs: POLL_MS, signal });
}
