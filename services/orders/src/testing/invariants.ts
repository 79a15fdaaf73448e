import type { ClientOrder } from './history.ts';
import { shortId } from './orders-store.ts';
import { INVENTORY, PRICES } from './products.ts';
import { PAYMENT_LIMIT_KOPIYKAS } from './services.ts';
import type { SimulationResult } from './simulation-result.ts';

/** The ledger's invariants over what a history left behind; each violation is noted in its journal. */
export function checkInvariants(result: SimulationResult): void {
  checkResponses(result);
  checkMoney(result);
  checkStock(result);
  checkEvents(result);
  checkCounter(result);
  if (result.history.faults.length + result.history.outages.length === 0) checkUndisturbed(result);
}

/** I2, I3: what a client was sent stays true, and no client has an order that it did not send. */
function checkResponses({ responses, store, history, journal }: SimulationResult): void {
  for (const { order } of responses) {
    const row = store.orders.get(order.id);
    if (row?.status !== order.status || row.reason !== order.reason) {
      journal.violated(`I2 ${shortId(order.id)} was sent ${order.status} and is ${row?.status} (${row?.reason})`);
    }
  }
  if (store.orders.size > history.orders.length) journal.violated('I3 there are more orders than were sent');
}

/** I4: a confirmed order was paid once, any other not at all. */
function checkMoney({ store, payments, journal }: SimulationResult): void {
  for (const row of store.orders.values()) {
    const due = row.status === 'Confirmed' ? row.total_kopiykas : 0;
    const net = payments.netOf(row.id);
    if (net !== due) journal.violated(`I4 ${shortId(row.id)} is ${row.status}: paid ${net}, due ${due}`);
    if (due > PAYMENT_LIMIT_KOPIYKAS) journal.violated(`I4 ${shortId(row.id)} was confirmed above the limit`);
  }
}

/** I5: what is not on hand was sold. */
function checkStock({ store, stock, journal }: SimulationResult): void {
  for (const [productId, initial] of INVENTORY) {
    const sold = [...store.orders.values()]
      .filter(({ status }) => status === 'Confirmed')
      .flatMap(({ lines }) => lines)
      .filter((line) => line.productId === productId)
      .reduce((sum, { quantity }) => sum + quantity, 0);
    const onHand = stock.onHand.get(productId);
    if (onHand !== initial - sold) {
      journal.violated(`I5 product ${productId}: ${onHand} on hand, ${initial} at first, ${sold} sold`);
    }
  }
}

/** I6, I7: one event and one shipment per confirmed order, none for any other. */
function checkEvents({ store, shipping, journal }: SimulationResult): void {
  for (const { id, status } of store.orders.values()) {
    const expected = status === 'Confirmed' ? 1 : 0;
    const events = store.outbox.filter((entry) => entry.order_id === id).length;
    const shipments = shipping.shipments.filter((orderId) => orderId === id).length;
    if (events !== expected) journal.violated(`I6 ${shortId(id)} is ${status} and has ${events} outbox rows`);
    if (shipments !== expected) journal.violated(`I7 ${shortId(id)} is ${status} and has ${shipments} shipments`);
  }
}

/** I11: an order is counted once; not at all only where its run was killed or fenced before it could count. */
function checkCounter({ store, counted, journal }: SimulationResult): void {
  const decided = [...store.orders.values()].filter(({ status }) => status !== null).length;
  if (counted > decided) journal.violated(`I11 ${counted} sagas were counted, ${decided} were decided`);
}

/** Without a fault every client receives the one right response. */
function checkUndisturbed({ history, responses, journal, store, counted }: SimulationResult): void {
  for (const [client, order] of history.orders.entries()) {
    const received = responses.find((candidate) => candidate.client === client)?.order;
    const expected = expectedResponse(order);
    if (received === undefined || (expected !== undefined && expected !== (received.reason ?? received.status))) {
      journal.violated(`client ${client} received ${received?.reason ?? received?.status} without a fault`);
    }
  }
  if (counted !== store.orders.size) journal.violated(`I11 ${counted} sagas were counted without a fault`);
}

/** Undefined where it depends on who comes first. */
function expectedResponse({ productId, quantity }: ClientOrder): string | undefined {
  if ((INVENTORY.get(productId) ?? 0) < quantity) return 'out of stock';
  if ((PRICES.get(productId) ?? 0) * quantity > PAYMENT_LIMIT_KOPIYKAS) return 'payment declined';
  return (INVENTORY.get(productId) ?? 0) >= 10 ? 'Confirmed' : undefined;
}
