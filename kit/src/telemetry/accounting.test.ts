import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { createSpanAccounting } from './accounting.ts';

type Export = Parameters<SpanExporter['export']>;
type Span = Export[0][number];
type StartedSpan = Parameters<ReturnType<typeof createSpanAccounting>['processor']['onStart']>[0];

/** An exporter whose batches wait until the test answers them. */
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

function setUp() {
  const { exporter, batches } = aSlowExporter();
  const limits = { scheduledDelayMillis: 60_000, maxQueueSize: 2, maxExportBatchSize: 2 };
  const accounting = createSpanAccounting({ exporter, ...limits });
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
    // The first two leave with a batch that is not answered, the next two fill the queue.
    for (let index = 0; index < 5; index++) record();
    expect(accounting.counts()).toMatchObject({ started: 5, ended: 5, dropped: 1 });
  });
});
