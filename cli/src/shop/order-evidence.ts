import type { DatabaseName } from '../topology/databases.ts';
import { DatabaseError, type ShopDatabases } from './databases.ts';
import type { IdRange } from './id-prefix.ts';
import { type OrderRow, readOrder } from './orders-table.ts';
import { listRowsOfOrder, type OutboxRow } from './outbox-table.ts';
import {
  findInboxRows,
  findPayment,
  findReservation,
  findShipment,
  type InboxRow,
  type Payment,
  type Reservation,
  type Shipment,
} from './participants.ts';

/** What all databases know about one order. */
export interface OrderEvidence {
  readonly order: OrderRow;
  readonly outbox: readonly OutboxRow[];
  /** Null when stock has none; when `unavailable.stock` is set, it is unknown. The same holds for the others. */
  readonly reservation: Reservation | null;
  readonly payment: Payment | null;
  readonly inbox: readonly InboxRow[];
  readonly shipment: Shipment | null;
  /** Databases that gave no response, and why. */
  readonly unavailable: Readonly<Partial<Record<DatabaseName, string>>>;
}

/**
 * Reads an order and what the participants recorded for it. A participant's database that does not respond is named in
 * `unavailable`. Throws CliError when there is no such order, or the orders database itself does not respond.
 */
export async function readOrderEvidence(databases: ShopDatabases, range: IdRange): Promise<OrderEvidence> {
  const order = await readOrder(databases, range);
  const outbox = await listRowsOfOrder(databases, order.id);
  const unavailable: Partial<Record<DatabaseName, string>> = {};

  async function known<T>(reading: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      unavailable[error.database] = error.why ?? error.what;
      return otherwise;
    }
  }

  const messageIds = outbox.map(({ id }) => id);
  const [reservation, payment, inbox, shipment] = await Promise.all([
    known(findReservation(databases, order.id), null),
    known(findPayment(databases, order.id), null),
    known(findInboxRows(databases, messageIds), []),
    known(findShipment(databases, order.id), null),
  ]);
  return { order, outbox, reservation, payment, inbox, shipment, unavailable };
}
