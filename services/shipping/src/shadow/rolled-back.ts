import { type Database, type Queryable, sql } from '@shop/kit/database.ts';
import type { ShippedRows } from '@shop/kit/shadow.ts';

const forgetMessage = sql('DELETE inbox: shadow', 'DELETE FROM inbox WHERE message_id = $1');
const forgetShipment = sql('DELETE Shipments: shadow', 'DELETE FROM "Shipments" WHERE "OrderId" = $1');

/** Parcels are never deleted: those of this transaction are recognised by its id. */
const selectWritten = sql(
  'SELECT inbox: shadow',
  `SELECT
     (SELECT coalesce(json_agg(json_build_object('type', type, 'orderId', order_id)), '[]')
        FROM inbox WHERE message_id = $1) AS inbox,
     (SELECT coalesce(json_agg("Lines"), '[]') FROM "Shipments" WHERE "OrderId" = $2) AS shipments,
     (SELECT coalesce(json_agg(lines), '[]') FROM parcels
        WHERE order_id = $2 AND xmin = pg_current_xact_id()::xid) AS parcels`,
);

/** Ends a transaction whose work is done. */
class RolledBack extends Error {
  override readonly name = 'RolledBack';
}

/**
 * A database in which nothing stays. Each transaction, and each statement outside of one, begins as if the message had not been
 * received yet. Its work is done twice, because a broker may deliver twice, and rolled back; `report` gets what it has written.
 */
export function rolledBack(
  database: Database,
  { messageId, orderId }: { readonly messageId: string; readonly orderId: string },
  report: (written: ShippedRows) => void,
): Database {
  async function transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    try {
      await database.transaction(async (own) => {
        await own.query(forgetMessage, [messageId]);
        await own.query(forgetShipment, [orderId]);
        const value = await work(own);
        await work(own);
        const { rows } = await own.query<ShippedRows>(selectWritten, [messageId, orderId]);
        result = { value };
        report(rows[0] as ShippedRows);
        throw new RolledBack();
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
    }
    if (result === undefined) throw new Error('a transaction in the shadow was committed');
    return result.value;
  }
  return {
    ...database,
    transaction,
    query: (statement, values) => transaction((own) => own.query(statement, values)),
  };
}
