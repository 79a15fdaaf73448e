import { metrics, ValueType } from '@opentelemetry/api';
import { SHIPPING_BINDINGS } from '@shop/kit/topology.ts';

const outcomes = ['shipped', 'duplicate', 'dead_lettered', 'retried'] as const;

/** Outcome of a delivery. `retried`: requeued, or retried while the database was unavailable. */
export type Outcome = (typeof outcomes)[number];

/** Counts a delivery in `shop.shipping.messages`, tag `outcome`. */
export type CountMessage = (outcome: Outcome) => void;

/** Upper bounds of `shop.shipping.delay`, s. Below 1 s is usual; 15 s is late; hours pass while shipping is stopped. */
const DELAY_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 900, 3_600];

/** Records in `shop.shipping.delay` how long a confirmed order waited for its shipment, in seconds. */
export type RecordDelay = (seconds: number) => void;

export function createDelayRecorder(): RecordDelay {
  const delay = metrics.getMeter('Shop.Shipping').createHistogram('shop.shipping.delay', {
    description: "Time from an order's confirmation to its shipment",
    unit: 's',
    valueType: ValueType.DOUBLE,
    advice: { explicitBucketBoundaries: DELAY_BOUNDS },
  });
  // The clocks of two machines may differ.
  return (seconds) => delay.record(Math.max(0, seconds));
}

/** Counts in `shop.shipping.events` an event that was read and has its effect, by `type`, which says its version. */
export type CountEvent = (type: string) => void;

export function createEventCounter(): CountEvent {
  const counter = metrics
    .getMeter('Shop.Shipping')
    .createCounter('shop.shipping.events', { description: 'Order events that were read, by type and version' });
  for (const type of SHIPPING_BINDINGS) counter.add(0, { type });
  return (type) => counter.add(1, { type });
}

export function createMessageCounter(): CountMessage {
  const counter = metrics
    .getMeter('Shop.Shipping')
    .createCounter('shop.shipping.messages', { description: 'Deliveries of order events by outcome' });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  for (const outcome of outcomes) counter.add(0, { outcome });
  return (outcome) => counter.add(1, { outcome });
}
