import { ORDER_CONFIRMED_QUEUE, RETRIES_QUEUE } from '@shop/kit/topology.ts';
import { messageOf } from '../errors.ts';
import { poll } from '../shared/wait-until.ts';
import type { AuditTarget } from './target.ts';

/** Whether everything that was in flight when the settling began had ended. */
export interface Settlement {
  /** What happened until then has ended; ms since 1970 by the database's clock. Undefined when it has not. */
  readonly settledAt: number | undefined;
  readonly waitedMs: number;
  /** What was still in flight, or could not be read, at the last look. */
  readonly waitingFor: string;
}

const POLL_MS = 200;

/**
 * Waits at most `limitMs` until no saga and no event in the outbox is older than the first look, and the queue was
 * empty. It looks in this order: what has left the one is in the next or done. Orders that others place meanwhile do
 * not prolong it. Looks at least once. Never rejects for a part that cannot be read: it has not settled, and waiting
 * would not help.
 */
export async function settle(target: AuditTarget, limitMs: number, signal?: AbortSignal): Promise<Settlement> {
  const began = performance.now();
  let since: number | undefined;
  const lookForEnd = async (): Promise<Settlement | undefined> => {
    const { at, waitingFor, readable } = await look(target, since);
    since ??= at;
    const waitedMs = performance.now() - began;
    if (waitingFor === '') return { settledAt: since, waitedMs, waitingFor };
    const isOver = !readable || waitedMs + POLL_MS >= limitMs;
    return isOver ? { settledAt: undefined, waitedMs, waitingFor } : undefined;
  };
  return poll(lookForEnd, { everyMs: POLL_MS, signal });
}

async function look(
  target: AuditTarget,
  since: number | undefined,
): Promise<{ at: number; waitingFor: string; readable: boolean }> {
  try {
    const [row] = await target.databases.query<{ at: number; open: number; pending: number }>(
      'orders',
      `WITH start AS (SELECT coalesce(to_timestamp($1::float8 / 1000), now()) AS time)
       SELECT (extract(epoch FROM start.time) * 1000)::float8 AS at,
         (SELECT count(*) FROM orders WHERE open AND created_at <= start.time)::int AS open,
         (SELECT count(*) FROM outbox WHERE published_at IS NULL AND created_at <= start.time)::int AS pending
       FROM start`,
      [since ?? null],
    );
    const { at = 0, open = 0, pending = 0 } = row ?? {};
    const parts = [open > 0 ? `${open} open sagas` : '', pending > 0 ? `${pending} events in the outbox` : ''];
    parts.push(await queueOf(target));
    return { at, waitingFor: parts.filter((part) => part !== '').join(', '), readable: true };
  } catch (error) {
    return { at: 0, waitingFor: messageOf(error), readable: false };
  }
}

/** Rejects when the broker cannot be asked. */
async function queueOf(target: AuditTarget): Promise<string> {
  const queues = await target.queues();
  if (!queues.some(({ name }) => name === ORDER_CONFIRMED_QUEUE)) return `the queue ${ORDER_CONFIRMED_QUEUE} to exist`;
  const waiting = queues
    .filter(({ name }) => name === ORDER_CONFIRMED_QUEUE || name === RETRIES_QUEUE)
    .map(({ name, ready, unacknowledged }) => ({ name, messages: ready + unacknowledged }))
    .filter(({ messages }) => messages > 0);
  return waiting.map(({ name, messages }) => `${messages} messages in ${name}`).join(', ');
}
