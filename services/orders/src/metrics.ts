import { metrics, type ObservableResult, ValueType } from '@opentelemetry/api';
import { outcomesOfReasons } from '@shop/kit/attempt-outcomes.ts';
import { type CancelReason, type OrderStatus, orderSaga } from './saga/saga.ts';

/** The instruments of the orders service. Meter and names are contracts; docs/metrics.md says what each means. */
export interface OrderMetrics {
  /** An order's status became durable: counts it, with why it was cancelled, and records how long that took, in ms. */
  sagaDecided(status: OrderStatus, reason: CancelReason | null, durationMs: number): void;
  sagaRecovered(): void;
  compensationFailed(name: string): void;
}

/** Last known values of the gauges; undefined, and not reported, until they have been read once. */
export interface OrderGauges {
  pendingEvents: number | undefined;
  oldestPendingAgeS: number | undefined;
  compensating: number | undefined;
  oldestCompensationAgeS: number | undefined;
  oldestUndecidedAgeS: number | undefined;
  activeSagas: number | undefined;
}

/** Nothing has been read yet. */
export const unreadGauges: Readonly<OrderGauges> = {
  pendingEvents: undefined,
  oldestPendingAgeS: undefined,
  compensating: undefined,
  oldestCompensationAgeS: undefined,
  oldestUndecidedAgeS: undefined,
  activeSagas: undefined,
};

/** The tag `outcome` of `shop.orders.outcomes`. */
const outcomes: Readonly<Record<CancelReason, string>> = outcomesOfReasons;

export function createOrderMetrics(gauges: OrderGauges): OrderMetrics {
  const meter = metrics.getMeter('Shop.Orders');
  const sagas = meter.createCounter('shop.sagas', {
    description: 'Completed sagas by result',
    valueType: ValueType.INT,
  });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  for (const status of ['Confirmed', 'Cancelled'] as const) sagas.add(0, { status });
  const byOutcome = meter.createCounter('shop.orders.outcomes', {
    description: 'Orders whose status became durable, by outcome',
    valueType: ValueType.INT,
  });
  for (const outcome of ['confirmed', ...Object.values(outcomes)]) byOutcome.add(0, { outcome });
  const duration = meter.createHistogram('shop.saga.duration', {
    description: 'Time from the order to its durable result',
    unit: 'ms',
    valueType: ValueType.DOUBLE,
  });
  meter
    .createObservableGauge('shop.outbox.pending', { description: 'Unpublished events', valueType: ValueType.INT })
    .addCallback(observe(() => gauges.pendingEvents));
  meter
    .createObservableGauge('shop.compensations.waiting', {
      description: 'Cancelled orders with compensations left',
      valueType: ValueType.INT,
    })
    .addCallback(observe(() => gauges.compensating));
  meter
    .createObservableGauge('shop.sagas.active', {
      description: 'Sagas that this instance runs',
      valueType: ValueType.INT,
    })
    .addCallback(observe(() => gauges.activeSagas));
  const seconds = { unit: 's', valueType: ValueType.DOUBLE };
  meter
    .createObservableGauge('shop.outbox.oldest.age', { description: 'Age of the oldest unpublished event', ...seconds })
    .addCallback(observe(() => gauges.oldestPendingAgeS));
  meter
    .createObservableGauge('shop.compensations.oldest.age', {
      description: 'Age of the oldest cancelled order with compensations left',
      ...seconds,
    })
    .addCallback(observe(() => gauges.oldestCompensationAgeS));
  meter
    .createObservableGauge('shop.sagas.open.oldest.age', {
      description: 'Age of the oldest order whose status is not durable',
      ...seconds,
    })
    .addCallback(observe(() => gauges.oldestUndecidedAgeS));
  const recoveries = meter.createCounter('shop.saga.recoveries', {
    description: 'Sagas adopted from a stopped instance',
    valueType: ValueType.INT,
  });
  const failures = meter.createCounter('shop.compensation.failures', {
    description: 'Compensations that have to be tried again',
    valueType: ValueType.INT,
  });
  recoveries.add(0);
  for (const row of Object.values(orderSaga)) {
    if ('compensation' in row) failures.add(0, { compensation: row.compensation });
  }
  return {
    sagaDecided(status, reason, durationMs) {
      sagas.add(1, { status });
      byOutcome.add(1, { outcome: reason === null ? 'confirmed' : outcomes[reason] });
      duration.record(Math.max(0, durationMs), { status });
    },
    sagaRecovered: () => recoveries.add(1),
    compensationFailed: (compensation) => failures.add(1, { compensation }),
  };
}

function observe(read: () => number | undefined): (result: ObservableResult) => void {
  return (result) => {
    const value = read();
    if (value !== undefined) result.observe(value);
  };
}
