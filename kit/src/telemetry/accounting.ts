import type { Meter } from '@opentelemetry/api';
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

export interface SpanAccountingOptions {
  readonly exporter: SpanExporter;
  readonly scheduledDelayMillis: number;
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
}

export interface SpanAccounting {
  readonly processor: SpanProcessor;
  counts(): Readonly<SpanCounts>;
  /** Publishes the counts as `shop.telemetry.spans` with the attribute `state`. */
  observe(meter: Meter): void;
}

/**
 * The batch processor with bookkeeping: ended = exported + dropped + still to be sent. A reader that sees 0 outstanding
 * in a report made after a trace's last activity knows that a missing span was never created.
 */
export function createSpanAccounting(options: SpanAccountingOptions): SpanAccounting {
  const counts: SpanCounts = { started: 0, ended: 0, exported: 0, dropped: 0 };
  let queued = 0;
  const { exporter } = options;
  const counted: SpanExporter = {
    export(spans, done) {
      queued -= spans.length;
      exporter.export(spans, (result) => {
        counts[result.code === SUCCESS ? 'exported' : 'dropped'] += spans.length;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
  const batches = new BatchSpanProcessor({ ...options, exporter: counted });

  const processor: SpanProcessor = {
    onStart() {
      counts.started++;
    },
    onEnd(span) {
      counts.ended++;
      // The batch processor would drop it without telling anyone.
      if (queued >= options.maxQueueSize) {
        counts.dropped++;
        return;
      }
      queued++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
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
    },
  };
}
