import type { OrderGauges, OrderMetrics } from '../metrics.ts';

/** Seeded bug `duration-in-seconds`: `shop.saga.duration` is recorded in seconds where its unit says ms. */
export function recordingSeconds(metrics: OrderMetrics): OrderMetrics {
  return {
    ...metrics,
    sagaDecided: (status, reason, durationMs) => metrics.sagaDecided(status, reason, durationMs / 1_000),
  };
}

/** Seeded bug `gauge-always-zero`: `shop.outbox.pending` is 0 once it was read, whatever waits. */
export function nothingPending(gauges: OrderGauges): OrderGauges {
  return {
    get pendingEvents() {
      return gauges.pendingEvents === undefined ? undefined : 0;
    },
    get oldestPendingAgeS() {
      return gauges.oldestPendingAgeS;
    },
    get compensating() {
      return gauges.compensating;
    },
    get oldestCompensationAgeS() {
      return gauges.oldestCompensationAgeS;
    },
    get oldestUndecidedAgeS() {
      return gauges.oldestUndecidedAgeS;
    },
    get activeSagas() {
      return gauges.activeSagas;
    },
  };
}
