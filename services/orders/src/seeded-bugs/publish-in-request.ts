import { type Database, type Queryable, type Statement, sql } from '@shop/kit/database.ts';
import type { Publisher } from '../publisher.ts';
import { confirmOrder } from '../repository.ts';

/** The row is there for the record: the relay never sees it. */
const confirmPublished = sql(
  'UPDATE orders, INSERT outbox: seeded bug',
  confirmOrder.text
    .replace('"TraceParent")', '"TraceParent", published_at)')
    .replace('$7, $8 FROM confirmed', '$7, $8, clock_timestamp() FROM confirmed'),
);

/** Seeded bug `publish-in-request`: the event is sent first, by the request, and then the order is confirmed. */
export function publishingInRequest(database: Database, publisher: Publisher): Database {
  const query: Queryable['query'] = async (statement: Statement, values) => {
    if (statement !== confirmOrder) return database.query(statement, values);
    const [orderId, , , , id, type, payload, traceParent] = values as string[];
    await publisher.publish({
      id: id as string,
      orderId: orderId as string,
      type: type as string,
      payload: payload as string,
      traceParent: traceParent ?? null,
    });
    return database.query(confirmPublished, values);
  };
  return { ...database, query };
}
