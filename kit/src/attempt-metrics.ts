import { metrics, ValueType } from '@opentelemetry/api';
import { type AttemptOutcome, attemptOutcomes } from './attempt-outcomes.ts';
import { rememberKeys } from './recent-keys.ts';
import type { Drawn } from './replica-picker.ts';

/** `first`: of its key. `repeat`: a retry, by the caller or by its client. `override`: sent to the track that its request names. */
export type AttemptKind = 'first' | 'repeat' | 'override';

/** Counts the attempts of an edge by what they reached. */
export interface AttemptMetrics {
  /** Whether it is the first attempt of its key. Without a key each call is one. */
  kindOf(key: string | undefined): AttemptKind;
  count(kind: AttemptKind, drawn: Drawn, outcome: AttemptOutcome, durationMs: number): void;
}

/** From 1 ms to 10 s, each a quarter more than the one before: a limit between fast and slow is hit that closely. */
export const BOUNDS_S = Array.from({ length: 43 }, (_, index) => Number((0.001 * 1.25 ** index).toPrecision(3)));

export function createAttemptMetrics(edge: string): AttemptMetrics {
  const meter = metrics.getMeter('Shop.Resilience');
  const attempts = meter.createCounter('shop.upstream.attempts', {
    description: 'Attempts of calls by what they reached and what became of them',
    valueType: ValueType.INT,
  });
  const duration = meter.createHistogram('shop.upstream.attempt.duration', {
    description: 'Duration of first attempts with a good outcome, while a canary is drawn',
    unit: 's',
    valueType: ValueType.DOUBLE,
    advice: { explicitBucketBoundaries: BOUNDS_S },
  });
  const keys = rememberKeys();
  const service = edge.slice(edge.indexOf('-') + 1);

  return {
    kindOf: (key) => (key === undefined || keys.isFirst(key) ? 'first' : 'repeat'),
    count(kind, { track, version, canaryShare }, outcome, durationMs) {
      const reached = { service, track, ...(version !== undefined && { version }) };
      // A share belongs to what was drawn by it.
      const share = kind === 'first' && canaryShare !== undefined ? { share: inPercent(canaryShare) } : {};
      attempts.add(1, { ...reached, outcome, attempt: kind, ...share });
      if (canaryShare === undefined || kind !== 'first' || attemptOutcomes[outcome] === 'bad') return;
      duration.record(durationMs / 1_000, { ...reached, ...share });
    },
  };
}

/** Two digits after the point, so that there are few. */
export const inPercent = (share: number) => Math.round(share * 10_000) / 100;
