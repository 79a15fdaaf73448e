import { formatCount } from '../../output/units.ts';
import { describeLines, type InventoryFact, type Line, type OrderFact, type ReservationFact } from '../facts.ts';
import { type Finding, NO_FINDINGS, type OrderInvariant, type Violation, violated } from '../invariant.ts';

const STATES: ReadonlySet<string> = new Set(['reserved', 'insufficient', 'released']);

/** I5, per order: a Confirmed order holds exactly its units, every other one holds none in the end. */
export const stockMatches: OrderInvariant = {
  id: 'I5',
  title: 'stock taken equals units confirmed',
  needs: ['orders', 'stock'],
  compares: ['reservations'],
  start() {
    const tally = { confirmedUnits: 0, reservedUnits: 0, reservations: 0 };
    return {
      add({ order, reservations }) {
        const held = reservations.filter(({ state }) => state === 'reserved');
        tally.reservations += held.length;
        tally.reservedUnits += held.reduce((sum, { lines }) => sum + units(lines), 0);
        if (order?.status === 'Confirmed') tally.confirmedUnits += units(order.lines);
        return order === undefined ? checkStray(reservations) : checkOrder(order, reservations, held);
      },
      evidence: () =>
        `${formatCount(tally.confirmedUnits)} units confirmed, ${formatCount(tally.reservedUnits)} held by ${formatCount(tally.reservations)} reservations`,
    };
  },
};

/** I5, per product: what was there at first is on hand or reserved, and never less than nothing is on hand. */
export function checkInventory(inventory: readonly InventoryFact[]): readonly Violation[] {
  return inventory.flatMap(({ productId, onHand, initialOnHand, reserved }): Violation[] => {
    const subject = `product ${productId}`;
    if (onHand < 0) return [{ kind: 'wrong', subject, detail: `product ${productId}: ${onHand} on hand` }];
    const missing = initialOnHand - onHand - reserved;
    if (missing === 0) return [];
    const detail = `product ${productId}: ${initialOnHand} at first, ${onHand} on hand, ${reserved} reserved, ${Math.abs(missing)} too ${missing > 0 ? 'few' : 'many'}`;
    return [{ kind: missing > 0 ? 'lost' : 'unexpected', subject, detail }];
  });
}

function checkStray(reservations: readonly ReservationFact[]): Finding {
  const [reservation] = reservations;
  return reservation === undefined
    ? NO_FINDINGS
    : violated('unexpected', `a reservation (${reservation.state}) without an order`);
}

function checkOrder(
  order: OrderFact,
  reservations: readonly ReservationFact[],
  held: readonly ReservationFact[],
): Finding {
  if (reservations.length > 1) return violated('duplicated', `${reservations.length} reservations`);
  const stray = reservations.find(({ state }) => !STATES.has(state));
  if (stray !== undefined)
    return violated('wrong', `its reservation is "${stray.state}", which is not a state of a reservation`);
  if (order.status === 'Confirmed') {
    const [reservation] = held;
    if (reservation === undefined) {
      return violated('lost', `Confirmed, but its reservation is ${reservations[0]?.state ?? 'missing'}`);
    }
    const [wanted, taken] = [describeLines(order.lines), describeLines(reservation.lines)];
    return wanted === taken ? NO_FINDINGS : violated('wrong', `ordered ${wanted}, reserved ${taken}`);
  }
  // An open saga still reserves or releases: its end is the business of I1.
  if (order.open || held.length === 0) return NO_FINDINGS;
  return violated('unexpected', `Cancelled, but ${describeLines(held[0]?.lines ?? [])} stays reserved`);
}

function units(lines: readonly Line[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}
