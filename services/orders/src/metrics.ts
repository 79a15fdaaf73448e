import { metrics, type ObservableResult, ValueType } from '@opentelemetry/api';
import type { OrderStatus } from './saga/saga.ts';

/** The instruments of the orders service. Meter and names are contracts; docs/metrics.md says what each means. */
export interface OrderMetrics {
  /** An order's status became durable: counts it and records how long that took, in ms. */
  sagaDecided(status: OrderStatus, durationMs: number): void;
  sagaRecovered(): void;
  compensationFailed(name: string): void;
}

/** Last known values of the gauges; undefined, and not reported, until they have been read once. */
export interface OrderGauges {
  pendingEvents: number | undefined;
  compensating: number | undefined;
  activeSagas: number | undefined;
}

export function createOrderMetrics(gauges: OrderGauges): OrderMetrics {
  const meter = metrics.getMeter('Shop.Orders');
  const sagas = meter.createCounter('shop.sagas', {
    description: 'Completed sagas by result',
    valueType: ValueType.INT,
  });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  for (const status of ['Confirmed', 'Cancelled'] as const) sagas.add(0, { status });
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
  const recoveries = meter.createCounter('shop.saga.recoveries', {
    description: 'Sagas adopted from a stopped instance',
    valueType: ValueType.INT,
  });
  const failures = meter.createCounter('shop.compensation.failures', {
    description: 'Compensations that have to be tried again',
    valueType: ValueType.INT,
  });
  return {
    sagaDecided(status, durationMs) {
      sagas.add(1, { status });
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
