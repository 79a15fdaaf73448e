import type { Meter } from '@opentelemetry/api';
import { globalErrorHandler } from '@opentelemetry/core';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';

/** ExportResultCode.SUCCESS of the exporter interface. */
const SUCCESS = 0;

/** What became of the recorded spans of this process, counted since its start. */
export interface SpanCounts {
  started: number;
  ended: number;
  /** Accepted by the receiver. */
  exported: number;
  /** Lost here: the queue was full, or the receiver refused or could not be reached. */
  dropped: number;
}

/** Ended spans a second from which on they wait longer. */
const BUSY_SPANS_PER_S = 200;

export interface SpanAccountingOptions {
  readonly exporter: SpanExporter;
  /** Longest time an ended span waits for its batch, in ms: what a killed process loses. */
  readonly delayMs: {
    readonly quiet: number;
    /** From 200 spans a second on, where each batch would be sent in a process that has better things to do. */
    readonly busy: number;
  };
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
}

export interface SpanAccounting {
  readonly processor: SpanProcessor;
  counts(): Readonly<SpanCounts>;
  /**
   * Publishes the counts as `shop.telemetry.spans` with the attribute `state`, and `shop.telemetry.closed` once the processor
   * has been shut down.
   */
  observe(meter: Meter): void;
}

/**
 * The batch processor with bookkeeping: ended = exported + dropped + still to be sent. A reader that sees 0 outstanding
 * in a report made after a trace's last activity knows that a missing span was never created.
 */
export function createSpanAccounting(options: SpanAccountingOptions): SpanAccounting {
  const counts: SpanCounts = { started: 0, ended: 0, exported: 0, dropped: 0 };
  let queued = 0;
  let isBusy = false;
  let isClosed = false;
  let sentAt = performance.now();
  let soon: NodeJS.Timeout | undefined;
  const { exporter, delayMs, ...limits } = options;
  const counted: SpanExporter = {
    export(spans, done) {
      queued -= spans.length;
      const now = performance.now();
      isBusy = (spans.length * 1_000) / (now - sentAt) >= BUSY_SPANS_PER_S;
      sentAt = now;
      exporter.export(spans, (result) => {
        counts[result.code === SUCCESS ? 'exported' : 'dropped'] += spans.length;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
  const batches = new BatchSpanProcessor({ ...limits, scheduledDelayMillis: delayMs.busy, exporter: counted });

  /** Sends what there is before the batch processor would. */
  function sendSoon(): void {
    if (isBusy || soon !== undefined) return;
    soon = setTimeout(() => {
      soon = undefined;
      batches.forceFlush().catch(globalErrorHandler);
    }, delayMs.quiet);
    soon.unref();
  }

  const processor: SpanProcessor = {
    onStart() {
      counts.started++;
    },
    onEnd(span) {
      counts.ended++;
      // The batch processor would drop it without a report.
      if (queued >= limits.maxQueueSize) {
        counts.dropped++;
        return;
      }
      queued++;
      batches.onEnd(span);
      sendSoon();
    },
    forceFlush: () => batches.forceFlush(),
    shutdown() {
      clearTimeout(soon);
      return batches.shutdown().finally(() => {
        isClosed = true;
      });
    },
  };

  return {
    processor,
    counts: () => ({ ...counts }),
    observe(meter) {
      meter
        .createObservableCounter('shop.telemetry.spans', {
          description: 'Recorded spans of this process by what became of them.',
          unit: '{span}',
        })
        .addCallback((result) => {
          for (const [state, count] of Object.entries(counts)) result.observe(count, { state });
        });
      meter
        .createObservableGauge('shop.telemetry.closed', {
          description: '1 in the last report of a process that ended in order: its counts of spans are final.',
        })
        .addCallback((result) => {
          if (isClosed) result.observe(1);
        });
    },
  };
}
