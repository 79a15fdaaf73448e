import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSpanAccounting } from './accounting.ts';

type Export = Parameters<SpanExporter['export']>;
type Span = Export[0][number];
type StartedSpan = Parameters<ReturnType<typeof createSpanAccounting>['processor']['onStart']>[0];

/** An exporter whose batches wait until the test completes them. */
function aSlowExporter() {
  const batches: Export[] = [];
  const exporter: SpanExporter = {
    export: (...call) => void batches.push(call),
    shutdown: async () => undefined,
  };
  return { exporter, batches };
}

function aSpan(): Span & StartedSpan {
  const resource = { asyncAttributesPending: false };
  return { spanContext: () => ({ traceFlags: 1 }), resource } as unknown as Span & StartedSpan;
}

function setUp(limits = { maxQueueSize: 2, maxExportBatchSize: 2 }) {
  const { exporter, batches } = aSlowExporter();
  const accounting = createSpanAccounting({ exporter, delayMs: { quiet: 150, busy: 500 }, ...limits });
  const record = () => {
    accounting.processor.onStart(aSpan(), ROOT_CONTEXT);
    accounting.processor.onEnd(aSpan());
  };
  return { accounting, batches, record };
}

describe('span accounting', () => {
  it('counts spans as exported once the receiver has taken them', () => {
    const { accounting, batches, record } = setUp();
    record();
    record();
    expect(accounting.counts()).toEqual({ started: 2, ended: 2, exported: 0, dropped: 0 });
    batches[0]?.[1]({ code: 0 });
    expect(accounting.counts()).toMatchObject({ exported: 2, dropped: 0 });
  });

  it('counts spans as dropped when the receiver refuses them', async () => {
    const { accounting, batches, record } = setUp();
    record();
    const flushed = accounting.processor.forceFlush();
    batches[0]?.[1]({ code: 1, error: new Error('refused') });
    await expect(flushed).rejects.toThrow('refused');
    expect(accounting.counts()).toMatchObject({ ended: 1, exported: 0, dropped: 1 });
  });

  it('counts spans as dropped when the queue is full', () => {
    const { accounting, record } = setUp();
    // The first two leave with a batch that stays open, the next two fill the queue.
    for (let index = 0; index < 5; index++) record();
    expect(accounting.counts()).toMatchObject({ started: 5, ended: 5, dropped: 1 });
  });
});

describe('an ended span', () => {
  const roomy = { maxQueueSize: 1_000, maxExportBatchSize: 1_000 };
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  /** Records spans for a second, 10 ms apart; batches are taken as they come. Gives how many there were. */
  async function recordASecond({ record, batches }: ReturnType<typeof setUp>, perStep: number): Promise<number> {
    let taken = 0;
    for (let step = 0; step < 100; step++) {
      for (let index = 0; index < perStep; index++) record();
      await vi.advanceTimersByTimeAsync(10);
      for (const [, done] of batches.splice(0)) {
        taken++;
        done({ code: 0 });
      }
    }
    return taken;
  }

  it('leaves soon where little happens', async () => {
    const { batches, record } = setUp(roomy);
    record();
    await vi.advanceTimersByTimeAsync(149);
    expect(batches).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches).toHaveLength(1);
  });

  it('waits for more of them under load, and leaves soon again after it', async () => {
    const shop = setUp(roomy);
    expect(await recordASecond(shop, 1)).toBeGreaterThanOrEqual(6);
    await recordASecond(shop, 4);
    expect(await recordASecond(shop, 4)).toBeLessThanOrEqual(2);
    await recordASecond(shop, 1);
    expect(await recordASecond(shop, 1)).toBeGreaterThanOrEqual(6);
  });

  it('leaves at shutdown', async () => {
    const { accounting, batches, record } = setUp(roomy);
    record();
    const ended = accounting.processor.shutdown();
    await vi.advanceTimersByTimeAsync(0);
    batches[0]?.[1]({ code: 0 });
    await ended;
    expect(accounting.counts()).toMatchObject({ exported: 1 });
  });
});
