import { type Database, sql } from '@shop/kit/database.ts';
import type { Shipments } from '../repository.ts';

const insertInbox = sql(
  'INSERT inbox: seeded bug',
  'INSERT INTO inbox (message_id, type, order_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
);

const addToShipment = sql(
  'INSERT Shipments: seeded bug',
  `WITH parcel AS (INSERT INTO parcels (order_id, lines) VALUES ($1, $2))
   INSERT INTO "Shipments" ("OrderId", "Lines") VALUES ($1, $2)
   ON CONFLICT ("OrderId") DO UPDATE SET "Lines" = "Shipments"."Lines" || excluded."Lines"`,
);

/** Seeded bug `no-inbox`: notes a message in the inbox and does not look whether it was there. */
export function withoutInbox(shipments: Shipments, database: Database): Shipments {
  return {
    ...shipments,
    receive: ({ messageId, type, orderId, lines }) =>
      database.transaction(async (transaction) => {
        await transaction.query(insertInbox, [messageId, type, orderId]);
        await transaction.query(addToShipment, [orderId, JSON.stringify(lines)]);
        return true;
      }),
  };
}
