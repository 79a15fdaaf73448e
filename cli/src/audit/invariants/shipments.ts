import { formatCount } from '../../output/units.ts';
import { describeLines, type OrderFact, type OrderFacts, type OutboxFact, type ShipmentFact } from '../facts.ts';
import { type Clock, type Finding, isOverdue, NO_FINDINGS, type OrderInvariant, violated } from '../invariant.ts';

/** A shipment appears within this, in ms. */
export const SHIPMENT_LIMIT_MS = 15_000;

/**
 * I7: one shipment per Confirmed order, with its lines; none for any other order. One parcel of the same lines left with it,
 * counted where no unique key hides a second one.
 */
export const shipmentsMatch: OrderInvariant = {
  id: 'I7',
  title: 'one shipment per confirmed order',
  needs: ['orders', 'shipping'],
  compares: ['shipments', 'parcels'],
  start(clock) {
    const tally = { confirmed: 0, shipments: 0, parcels: 0 };
    return {
      add(facts) {
        if (facts.order?.status === 'Confirmed') tally.confirmed++;
        tally.shipments += facts.shipments.length;
        tally.parcels += facts.parcels.length;
        const finding = check(facts, clock);
        return finding === NO_FINDINGS ? checkParcels(facts) : finding;
      },
      evidence: () =>
        `${formatCount(tally.confirmed)} Confirmed, ${formatCount(tally.shipments)} shipments, ${formatCount(tally.parcels)} parcels`,
    };
  },
};

function check({ order, outbox, shipments }: OrderFacts, clock: Clock): Finding {
  if (shipments.length > 1) return violated('duplicated', `${shipments.length} shipments`);
  const [shipment] = shipments;
  if (order?.status !== 'Confirmed') {
    if (shipment === undefined) return NO_FINDINGS;
    const whose = order === undefined ? 'no order' : `an order that is ${order.status ?? order.state}`;
    return violated('unexpected', `a shipment for ${whose}`);
  }
  return shipment === undefined ? checkMissing(outbox, clock) : checkContent(order, shipment);
}

/** Until its event is published nothing can be shipped: that is the business of I6. */
function checkMissing(outbox: readonly OutboxFact[], clock: Clock): Finding {
  const publishedAt = outbox.map((event) => event.publishedAt).find((time) => time !== undefined);
  if (publishedAt === undefined) return NO_FINDINGS;
  if (!isOverdue(clock, publishedAt, SHIPMENT_LIMIT_MS)) return { violations: [], inFlight: true };
  return violated('lost', `no shipment ${Math.round((clock.at - publishedAt) / 1000)} s after its event was published`);
}

/** Every version of the event has the order's lines, of which there is one at least: a shipment without any has lost them. */
function checkContent(order: OrderFact, { lines }: ShipmentFact): Finding {
  const [wanted, shipped] = [describeLines(order.lines), describeLines(lines)];
  return wanted === shipped ? NO_FINDINGS : violated('wrong', `ordered ${wanted}, shipped ${shipped}`);
}

/** Shipment and parcel are of one snapshot and one statement. */
function checkParcels({ shipments: [shipment], parcels }: OrderFacts): Finding {
  const [parcel] = parcels;
  if (parcels.length > 1) return violated('duplicated', `${parcels.length} parcels`);
  // Not `lost`, as a shipment that may still come is: its parcel would have left with it.
  if (parcel === undefined)
    return shipment === undefined ? NO_FINDINGS : violated('wrong', 'a shipment without a parcel');
  if (shipment === undefined) return violated('unexpected', 'a parcel without a shipment');
  const [wanted, sent] = [describeLines(shipment.lines), describeLines(parcel.lines)];
  return wanted === sent ? NO_FINDINGS : violated('wrong', `the shipment is ${wanted}, the parcel was ${sent}`);
}
