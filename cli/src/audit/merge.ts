import type { OrderFacts } from './facts.ts';
import type { GroupReader } from './snapshot.ts';

/** A reader per table; absent where its database cannot be read. */
export type Readers = {
  readonly [Part in Exclude<keyof OrderFacts, 'orderId'>]: GroupReader<
    Part extends 'order' ? NonNullable<OrderFacts['order']> : ElementOf<OrderFacts[Part]>
  >;
};

type ElementOf<T> = T extends readonly (infer Element)[] ? Element : never;

/**
 * Facts of one order after the other, in order of id, from tables that are each in that order: a merge that holds one
 * order and the readers' batches. UUIDs as text sort as PostgreSQL sorts them.
 */
export async function* mergeFacts(readers: Readers): AsyncGenerator<OrderFacts> {
  for (;;) {
    const orderId = smallest(await Promise.all(Object.values(readers).map((reader) => reader.next())));
    if (orderId === undefined) return;
    const [order] = await readers.order.take(orderId);
    yield {
      orderId,
      order,
      outbox: await readers.outbox.take(orderId),
      payments: await readers.payments.take(orderId),
      effects: await readers.effects.take(orderId),
      reservations: await readers.reservations.take(orderId),
      inbox: await readers.inbox.take(orderId),
      shipments: await readers.shipments.take(orderId),
      parcels: await readers.parcels.take(orderId),
    };
  }
}

function smallest(ids: readonly (string | undefined)[]): string | undefined {
  let found: string | undefined;
  for (const id of ids) if (id !== undefined && (found === undefined || id < found)) found = id;
  return found;
}
