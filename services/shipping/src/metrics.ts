import { metrics } from '@opentelemetry/api';

/** What became of a delivery. `retried`: given back to the queue, or tried again while the database was away. */
export type Outcome = 'shipped' | 'duplicate' | 'dead_lettered' | 'retried';

/** Counts a delivery in `shop.shipping.messages`, tag `outcome`. */
export type CountMessage = (outcome: Outcome) => void;

export function createMessageCounter(): CountMessage {
  const counter = metrics
    .getMeter('Shop.Shipping')
    .createCounter('shop.shipping.messages', { description: 'Deliveries of order events by what became of them' });
  return (outcome) => counter.add(1, { outcome });
}
