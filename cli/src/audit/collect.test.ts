/**
 * Goal: an order that goes on while the audit reads violates nothing, whichever databases were read before and after a step.
 * Method: databases whose rows are those of a moment; the order makes steps between two of the audit's reads, at each place.
 */
import { describe, expect, it } from 'vitest';
import { type DatabaseName, databaseNames } from '../topology/databases.ts';
import { checkOrders } from './check-orders.ts';
import { openLedger } from './collect.ts';
import { inboxMatches } from './invariants/inbox.ts';
import { moneyMatches } from './invariants/money.ts';
import { outboxMatches } from './invariants/outbox.ts';
import { shipmentsMatch } from './invariants/shipments.ts';
import { stockMatches } from './invariants/stock.ts';
import { terminal } from './invariants/terminal.ts';
import type { Row } from './rows.ts';
import type { Snapshot } from './snapshot.ts';

const NOW = 1_800_000_000_000;
const ID = '00000000-0000-4000-8000-000000000001';
const MESSAGE = '00000000-0000-4000-8000-000000000002';
const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const LINES = '[{"productId":1,"quantity":2,"priceKopiykas":100}]';

/** Rows by cursor, as one moment has them. */
type Moment = Readonly<Record<string, readonly Row[]>>;

function order(state: string, { open = true, reason = null as string | null } = {}): Moment {
  const status = state === 'Confirmed' ? state : state === 'Compensating' || state === 'Cancelled' ? 'Cancelled' : null;
  const decidedAt = status === null ? null : NOW;
  return { audit_orders: [[ID, status, reason, state, open, LINES, 200, 'UAH', TRACE, NOW, decidedAt, null]] };
}

const reserved: Moment = { audit_reservations: [[ID, 'reserved', LINES, NOW]] };
const released: Moment = { audit_reservations: [[ID, 'released', LINES, NOW]] };
const attempted: Moment = { audit_payments: [[ID, 'attempted', 200, 'UAH', NOW]] };
const charge: Row = [ID, 'charge', 200, 'UAH', NOW];
const charged: Moment = { audit_payments: [[ID, 'accepted', 200, 'UAH', NOW]], audit_effects: [charge] };
const refunded: Moment = {
  audit_payments: [[ID, 'refunded', 200, 'UAH', NOW]],
  audit_effects: [charge, [ID, 'refund', 200, 'UAH', NOW]],
};
const payload = JSON.stringify({
  ...{ id: MESSAGE, type: 'order.confirmed', source: '/shop/orders', subject: ID },
  data: { orderId: ID, lines: [{ productId: 1, quantity: 2 }], total: 200, currency: 'UAH' },
});
const event = (publishedAt: number | null): Moment => ({
  audit_outbox: [[ID, MESSAGE, 'order.confirmed', TRACE, payload, NOW, publishedAt]],
});
const confirmed = { ...order('Confirmed', { open: false }), ...event(null) };
const shipped: Moment = {
  audit_inbox: [[ID, MESSAGE, 'order.confirmed', NOW]],
  audit_shipments: [[ID, 'shipment', '[{"productId":1,"quantity":2}]', NOW]],
  audit_parcels: [[ID, '[{"productId":1,"quantity":2}]', NOW]],
};
const cancelled = { reason: 'payment unavailable' };

/** What each step adds to the moment before it. */
const lives: Readonly<Record<string, readonly Moment[]>> = {
  'is confirmed': [
    ...[{}, order('Started'), reserved, order('StockReserved'), attempted, charged, order('PaymentCharged')],
    ...[confirmed, event(NOW), shipped],
  ],
  'is shipped before its event is marked': [
    { ...order('PaymentCharged'), ...reserved, ...charged },
    ...[confirmed, shipped, event(NOW)],
  ],
  'is compensated': [
    ...[{}, order('Started'), reserved, order('StockReserved'), charged, order('Compensating', cancelled)],
    ...[refunded, released, order('Cancelled', { ...cancelled, open: false })],
  ],
};

/** The moments of a life, each with all that came before. */
function momentsOf(steps: readonly Moment[]): readonly Moment[] {
  const moments: Moment[] = [];
  for (const step of steps) moments.push({ ...moments.at(-1), ...step });
  return moments;
}

const CURSORS = {
  orders: ['audit_orders', 'audit_outbox'],
  payments: ['audit_payments', 'audit_effects'],
  stock: ['audit_reservations'],
  shipping: ['audit_inbox', 'audit_shipments', 'audit_parcels'],
  catalog: [],
} as const;
const databaseUrls = Object.fromEntries(databaseNames.map((name) => [name, name])) as Record<DatabaseName, string>;

/** Reads of the audit: the time, five snapshots, and the orders that rows without one belong to. */
const READS = 7;

/** The databases at `moments[from]` for the first `reads` reads of the audit, and at `moments[to]` from then on. */
async function violationsOf(
  moments: readonly Moment[],
  { from, to, reads }: { from: number; to: number; reads: number },
) {
  let done = 0;
  const read = () => moments[done++ < reads ? from : to] as Moment;
  async function openSnapshot(database: string): Promise<Snapshot> {
    const moment = read();
    const left = new Map<string, readonly Row[]>(
      CURSORS[database as keyof typeof CURSORS].map((name) => [name, moment[name] ?? []]),
    );
    return {
      async query<T>(statement: string | { readonly text: string }) {
        const [, cursor = ''] =
          /^FETCH \d+ FROM (\w+)$/.exec(typeof statement === 'string' ? '' : statement.text) ?? [];
        const rows = left.get(cursor) ?? [];
        left.delete(cursor);
        return { rows: rows as readonly T[] };
      },
      async [Symbol.asyncDispose]() {},
    };
  }
  const databases = {
    async query<T>(_database: string, text: string) {
      const { audit_orders: orders = [] } = read();
      return (text.includes('now()') ? [{ at: NOW }] : orders.map(([id]) => ({ id }))) as T[];
    },
    async [Symbol.asyncDispose]() {},
  };
  await using ledger = await openLedger({ databaseUrls, databases, openSnapshot });
  const invariants = [terminal, moneyMatches, stockMatches, outboxMatches, shipmentsMatch, inboxMatches];
  const clock = { at: ledger.at, settledAt: undefined };
  const results = await checkOrders(invariants, ledger.facts({}), { clock, missing: ledger.missing });
  return results.flatMap(({ id, violations }) => violations.map(({ detail }) => `${id}: ${detail}`));
}

describe('an order that goes on while the audit reads violates nothing:', () => {
  it.each(Object.entries(lives))('it %s', async (_, steps) => {
    const moments = momentsOf(steps);
    for (let from = 0; from < moments.length; from++)
      for (let to = from; to < moments.length; to++)
        for (let reads = 0; reads <= READS; reads++)
          expect(
            await violationsOf(moments, { from, to, reads }),
            `from ${from} to ${to} after ${reads} reads`,
          ).toEqual([]);
  });
});

it.each([
  [
    'I7',
    'a shipment for an order that is PaymentCharged',
    { ...order('PaymentCharged'), ...charged, ...reserved, ...shipped },
  ],
  ['I7', 'a shipment for no order', shipped],
  ['I8', `message ${MESSAGE} (order.confirmed) is about no order`, { audit_inbox: shipped.audit_inbox ?? [] }],
  ['I4', 'a payment (accepted) without an order', charged],
  ['I5', 'a reservation (reserved) without an order', reserved],
  ['I4', 'Confirmed, but its payment is missing', { ...confirmed, ...reserved }],
])('what stays is one: %s, %s', async (id, detail, moment) => {
  expect(await violationsOf([moment], { from: 0, to: 0, reads: 0 })).toContain(`${id}: ${detail}`);
});
