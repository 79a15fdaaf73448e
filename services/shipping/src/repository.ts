import { type Database, type Queryable, sql } from '@shop/kit/database.ts';
import type { ParsedOrderConfirmed } from '@shop/kit/events.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import type { Shipment } from './shipment.ts';

const insertInbox = sql(
  'INSERT inbox: received',
  'INSERT INTO inbox (message_id, type, order_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
);

/** A parcel leaves with the shipment, and none when the order has one. */
const insertShipment = sql(
  'INSERT Shipments: create',
  `WITH created AS (
     INSERT INTO "Shipments" ("OrderId", "Lines") VALUES ($1, $2) ON CONFLICT ("OrderId") DO NOTHING
     RETURNING "OrderId", "Lines"
   )
   INSERT INTO parcels (order_id, lines) SELECT "OrderId", "Lines" FROM created`,
);

const selectShipment = sql(
  'SELECT Shipments: by order',
  'SELECT "Id", "OrderId", "Lines", "CreatedAt" FROM "Shipments" WHERE "OrderId" = $1',
);

const deleteInbox = sql(
  'DELETE inbox: purge',
  `DELETE FROM inbox WHERE message_id = ANY (ARRAY(
     SELECT message_id FROM inbox WHERE received_at < now() - $1 * interval '1 day'
     ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);

/** No event is published any more that could ask for the shipment again. */
const deleteShipments = sql(
  'DELETE Shipments: purge',
  `DELETE FROM "Shipments" WHERE "Id" = ANY (ARRAY(
     SELECT "Id" FROM "Shipments" WHERE "CreatedAt" < now() - $1 * interval '1 day'
     ORDER BY "CreatedAt" LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);

/** Deletes at most `limit` messages that were processed more than `days` ago; returns how many. */
export async function purgeInbox(database: Queryable, { days, limit }: PurgeLimits): Promise<number> {
  return (await database.query(deleteInbox, [days, limit])).count;
}

/** Deletes at most `limit` shipments made more than `days` ago, and never a parcel; returns how many. */
export async function purgeShipments(database: Queryable, { days, limit }: PurgeLimits): Promise<number> {
  return (await database.query(deleteShipments, [days, limit])).count;
}

export interface Shipments {
  /**
   * Creates the shipment that an event asks for, in one transaction with the note that the event was processed. False
   * when it was processed before, or another event of the order was (its other version): one order, one shipment.
   */
  receive(event: ParsedOrderConfirmed): Promise<boolean>;
  find(orderId: string): Promise<Shipment | undefined>;
}

export function createShipments(database: Database, failpoint: Failpoint<'shipping'>): Shipments {
  return {
    async receive(event) {
      HARNESS: await failpoint('message-received:unrecorded');
      return database.transaction(async (transaction) => {
        const isNew = await addToInbox(transaction, event);
        const isShipped = isNew && (await addShipment(transaction, event));
        HARNESS: await failpoint('shipment-recorded:uncommitted');
        return isShipped;
      });
    },
    async find(orderId) {
      const { rows } = await database.query<ShipmentRow>(selectShipment, [orderId]);
      return rows[0] && toShipment(rows[0]);
    },
  };
}

async function addToInbox(transaction: Queryable, event: ParsedOrderConfirmed): Promise<boolean> {
  const { count } = await transaction.query(insertInbox, [event.messageId, event.type, event.orderId]);
  return count === 1;
}

async function addShipment(transaction: Queryable, { orderId, lines }: ParsedOrderConfirmed): Promise<boolean> {
  const wanted = lines.map(({ productId, quantity }) => ({ productId, quantity }));
  const { count } = await transaction.query(insertShipment, [orderId, JSON.stringify(wanted)]);
  return count === 1;
}

interface ShipmentRow {
  readonly Id: string;
  readonly OrderId: string;
  readonly Lines: Shipment['lines'];
  readonly CreatedAt: Date;
}

function toShipment({ Id, OrderId, Lines, CreatedAt }: ShipmentRow): Shipment {
  return { id: Id, orderId: OrderId, lines: Lines, createdAt: CreatedAt };
}
