import { metrics } from '@opentelemetry/api';

/** Outcome of a delivery. `retried`: requeued, or retried while the database was unavailable. */
export type Outcome = 'shipped' | 'duplicate' | 'dead_lettered' | 'retried';

/** Counts a delivery in `shop.shipping.messages`, tag `outcome`. */
export type CountMessage = (outcome: Outcome) => void;

export function createMessageCounter(): CountMessage {
  const counter = metrics
    .getMeter('Shop.Shipping')
    .createCounter('shop.shipping.messages', { description: 'Deliveries of order events by outcome' });
  return (outcome) => counter.add(1, { outcome });
}
