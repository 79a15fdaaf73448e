import type { ShopDatabases } from './databases.ts';

/** What stock did for an order. */
export interface Reservation {
  readonly state: 'reserved' | 'insufficient' | 'released';
  /** False for the tombstone of a release that came before its reserve. */
  readonly wasReserved: boolean;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  readonly insufficientProductIds: readonly number[];
  readonly createdAt: Date;
  readonly releasedAt: Date | null;
}

/** What payments did for an order. */
export interface Payment {
  readonly state: 'attempted' | 'accepted' | 'declined' | 'refunded' | 'voided';
  /** Null for a tombstone: refused before it was ever charged. */
  readonly amountKopiykas: number | null;
  readonly currency: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A delivery that shipping has processed. */
export interface InboxRow {
  readonly messageId: string;
  readonly type: string;
  readonly receivedAt: Date;
}

export interface Shipment {
  readonly id: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  readonly createdAt: Date;
}

export async function findReservation(databases: ShopDatabases, orderId: string): Promise<Reservation | null> {
  const [row] = await databases.query<{
    state: Reservation['state'];
    was_reserved: boolean;
    lines: Reservation['lines'];
    insufficient_product_ids: number[];
    created_at: Date;
    released_at: Date | null;
  }>(
    'stock',
    `SELECT state, reserve_key IS NOT NULL AS was_reserved, lines, insufficient_product_ids, created_at, released_at
     FROM reservations WHERE order_id = $1`,
    [orderId],
  );
  if (row === undefined) return null;
  return {
    state: row.state,
    wasReserved: row.was_reserved && row.state !== 'insufficient' && row.lines.length > 0,
    lines: row.lines,
    insufficientProductIds: row.insufficient_product_ids,
    createdAt: row.created_at,
    releasedAt: row.released_at,
  };
}

export async function findPayment(databases: ShopDatabases, orderId: string): Promise<Payment | null> {
  const [row] = await databases.query<{
    state: Payment['state'];
    amount_kopiykas: string | null;
    currency: string | null;
    created_at: Date;
    updated_at: Date;
  }>('payments', 'SELECT state, amount_kopiykas, currency, created_at, updated_at FROM payments WHERE order_id = $1', [
    orderId,
  ]);
  if (row === undefined) return null;
  return {
    state: row.state,
    amountKopiykas: row.amount_kopiykas === null ? null : Number(row.amount_kopiykas),
    currency: row.currency,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The inbox rows of the given messages. By message, because the inbox has no index on the order. */
export async function findInboxRows(databases: ShopDatabases, messageIds: readonly string[]): Promise<InboxRow[]> {
  if (messageIds.length === 0) return [];
  const rows = await databases.query<{ message_id: string; type: string; received_at: Date }>(
    'shipping',
    'SELECT message_id, type, received_at FROM inbox WHERE message_id = ANY ($1::uuid[]) ORDER BY received_at',
    [messageIds],
  );
  return rows.map((row) => ({ messageId: row.message_id, type: row.type, receivedAt: row.received_at }));
}

export async function findShipment(databases: ShopDatabases, orderId: string): Promise<Shipment | null> {
  const [row] = await databases.query<{ Id: string; Lines: Shipment['lines']; CreatedAt: Date }>(
    'shipping',
    'SELECT "Id", "Lines", "CreatedAt" FROM "Shipments" WHERE "OrderId" = $1',
    [orderId],
  );
  return row === undefined ? null : { id: row.Id, lines: row.Lines, createdAt: row.CreatedAt };
}
