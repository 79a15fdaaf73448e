import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Database, Queryable } from '@shop/kit/database.ts';
import { DatabaseUnavailableError, TransientError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OrderGauges, unreadGauges } from './metrics.ts';
import type { Publisher } from './publisher.ts';
import { BATCH, type Relay, startRelay } from './relay.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const spans: ReadableSpan[] = [];

/** An outbox in memory: a transaction's marks stay only when it commits, and others skip the rows it has. */
function anOutbox(count: number) {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `message-${index}`,
    order_id: `order-${index}`,
    type: 'order.confirmed',
    payload: '{}',
    TraceParent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    published: false,
  }));
  const state = { isDown: false, commits: true, mostMarks: Number.POSITIVE_INFINITY };
  const locked = new Set<unknown>();
  const pending = () => rows.filter(({ published }) => !published);
  const database = {
    async query() {
      if (state.isDown) throw new DatabaseUnavailableError('connect ECONNREFUSED');
      return { rows: [{ count: pending().length }], count: 1 };
    },
    async transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
      const marked: unknown[] = [];
      const mine: unknown[] = [];
      const query = async ({ name }: { name: string }, values: readonly unknown[]) => {
        if (name === 'UPDATE outbox: published') {
          const ids = values[0] as readonly string[];
          if (ids.length > state.mostMarks) throw new DatabaseUnavailableError('Query read timeout', { sent: true });
          marked.push(...ids);
        }
        const free = pending().filter(({ id }) => !locked.has(id));
        const claimed = name === 'SELECT outbox: claim' ? free.slice(0, values[0] as number) : [];
        for (const { id } of claimed) locked.add(id);
        mine.push(...claimed.map(({ id }) => id));
        return { rows: claimed, count: claimed.length };
      };
      try {
        const result = await work({ query } as Queryable);
        if (!state.commits) throw new DatabaseUnavailableError('no response to COMMIT', { sent: true });
        for (const row of rows) if (marked.includes(row.id)) row.published = true;
        return result;
      } finally {
        for (const id of mine) locked.delete(id);
      }
    },
  } as unknown as Database;
  return { database, state, pending };
}

/** A broker that confirms what `accepts` lets it. */
function aPublisher(accepts: (id: string) => boolean = () => true) {
  const sent: string[] = [];
  const state = { ready: true };
  const publisher: Publisher = {
    get ready() {
      return state.ready;
    },
    async publish({ id }) {
      sent.push(id);
      if (!accepts(id)) throw new TransientError('the broker returned the message');
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { publisher, sent, state };
}

describe('the relay', () => {
  const gauges: OrderGauges = { ...unreadGauges };
  let relay: Relay | undefined;
  const relayOf = (database: Database, publisher: Publisher, failpoint = async (_name: string) => {}) => {
    relay = startRelay({ database, publisher, logger, failpoint, gauges });
  };
  const polls = (count: number) => vi.advanceTimersByTimeAsync(count * 500);

  beforeAll(() => {
    const keep = {
      onStart: () => undefined,
      onEnd: (span: ReadableSpan) => void spans.push(span),
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [keep] }));
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(() => {
    for (const api of [trace, propagation, context]) api.disable();
  });
  beforeEach(() => {
    vi.useFakeTimers();
    spans.length = 0;
  });
  afterEach(async () => {
    await relay?.stop();
    vi.useRealTimers();
  });

  it('publishes what is pending and marks it', async () => {
    const outbox = anOutbox(3);
    const { publisher, sent } = aPublisher();
    relayOf(outbox.database, publisher);
    await polls(1);
    expect(sent).toEqual(['message-0', 'message-1', 'message-2']);
    expect(outbox.pending()).toEqual([]);
    expect(gauges.pendingEvents).toBe(0);
  });

  it('R1 never marks what the broker returned, and sends it again', async () => {
    const outbox = anOutbox(2);
    const { publisher, sent } = aPublisher((id) => id !== 'message-0');
    relayOf(outbox.database, publisher);
    await polls(3);
    expect(outbox.pending().map(({ id }) => id)).toEqual(['message-0']);
    expect(sent.filter((id) => id === 'message-0').length).toBeGreaterThan(1);
    expect(sent.filter((id) => id === 'message-1')).toHaveLength(1);
  });

  it('R1 sends again what was confirmed and could not be marked', async () => {
    const outbox = anOutbox(1);
    outbox.state.commits = false;
    const { publisher, sent } = aPublisher();
    relayOf(outbox.database, publisher);
    await polls(1);
    outbox.state.commits = true;
    await polls(1);
    expect(sent.length).toBeGreaterThan(1);
    expect(outbox.pending()).toEqual([]);
  });

  it('R3 makes no span while the broker is unavailable, one per row when it is back', async () => {
    const outbox = anOutbox(1);
    const { publisher, sent, state } = aPublisher();
    state.ready = false;
    relayOf(outbox.database, publisher);
    await polls(10);
    expect([sent, spans]).toEqual([[], []]);
    state.ready = true;
    await polls(1);
    expect(spans.map(({ name }) => name)).toEqual(['outbox relay']);
  });

  it('R5 takes fewer rows at a time until a database that marks slowly can do it within its limit', async () => {
    const outbox = anOutbox(BATCH);
    outbox.state.mostMarks = 40;
    const { publisher, sent } = aPublisher();
    relayOf(outbox.database, publisher);
    // 500, 250, 125 and 62 rows are too many; from 31 on a larger batch is tried after each success, and fails now and then.
    await polls(20);
    expect(outbox.pending()).toEqual([]);
    expect(sent.length).toBeLessThan(5 * BATCH);
  });

  it('continues the trace stored with the row', async () => {
    relayOf(anOutbox(1).database, aPublisher().publisher);
    await polls(1);
    const [span] = spans;
    expect(span?.spanContext().traceId).toBe(TRACE_ID);
    expect(span?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });

  it('R4 refreshes the number of pending rows while the broker is unavailable', async () => {
    const outbox = anOutbox(4);
    const { publisher, state } = aPublisher();
    state.ready = false;
    relayOf(outbox.database, publisher);
    await polls(1);
    expect(gauges.pendingEvents).toBe(4);
  });

  it('goes on polling after an outage of the database', async () => {
    const outbox = anOutbox(1);
    outbox.state.isDown = true;
    const { publisher } = aPublisher();
    relayOf(outbox.database, publisher);
    await polls(3);
    outbox.state.isDown = false;
    await polls(1);
    expect(outbox.pending()).toEqual([]);
  });

  it('does not wait for the next poll while there is a backlog', async () => {
    const outbox = anOutbox(2 * BATCH + 50);
    const { publisher, sent } = aPublisher();
    relayOf(outbox.database, publisher);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2 * BATCH + 50);
  });

  it('processes a second batch while the first waits for the broker, when there is one', async () => {
    const outbox = anOutbox(BATCH + 50);
    const { publisher } = aPublisher();
    const confirmed = Promise.withResolvers<void>();
    const publish = vi.fn(() => confirmed.promise);
    relayOf(outbox.database, { ...publisher, ready: true, publish });
    await vi.advanceTimersByTimeAsync(0);
    expect(publish).toHaveBeenCalledTimes(BATCH + 50);
    confirmed.resolve();
    await polls(1);
    expect([publish.mock.calls.length, outbox.pending()]).toEqual([BATCH + 50, []]);
  });

  it('ends both batches before it reads again, also when one of them fails', async () => {
    const outbox = anOutbox(BATCH + 50);
    const { publisher } = aPublisher();
    const confirmed = Promise.withResolvers<void>();
    const publish = vi.fn(() => confirmed.promise);
    let begun = 0;
    const failing = async (name: string) => {
      if (name === 'batch-claimed:unpublished' && ++begun === 1) throw new TransientError('the first batch fails');
    };
    relayOf(outbox.database, { ...publisher, ready: true, publish }, failing);
    await polls(4);
    expect(publish).toHaveBeenCalledTimes(50);
    confirmed.resolve();
    await polls(1);
    expect(outbox.pending()).toEqual([]);
  });

  it('finishes its batch before it stops', async () => {
    const outbox = anOutbox(1);
    const published = Promise.withResolvers<void>();
    const { publisher } = aPublisher();
    relayOf(outbox.database, { ...publisher, ready: true, publish: () => published.promise });
    await vi.advanceTimersByTimeAsync(0);
    const stopped = relay?.stop();
    published.resolve();
    await stopped;
    expect(outbox.pending()).toEqual([]);
  });

  it('passes its failpoints in the order of the work', async () => {
    const passed: string[] = [];
    relayOf(anOutbox(1).database, aPublisher().publisher, async (name) => void passed.push(name));
    await polls(1);
    expect(passed).toEqual([
      'batch-claimed:unpublished',
      'event-published:unconfirmed',
      'event-confirmed:unmarked',
      'batch-marked:committed',
    ]);
  });
});
