/**
 * Goal: the pure invariants say nothing about a ledger that balances, whatever orders it holds, and something about every
 * change of it that matters. Method: random balanced facts, then one random change.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOrders } from '../check-orders.ts';
import type { OrderFact, OrderFacts, OutboxFact } from '../facts.ts';
import type { History } from '../history.ts';
import type { InvariantResult } from '../invariant.ts';
import { acknowledgedIsDurable, ordersWereAskedFor } from './history.ts';
import { inboxMatches } from './inbox.ts';
import { type ByStatus, lostUntilNow, type MetricEvidence, metricsResult } from './metrics.ts';
import { moneyMatches } from './money.ts';
import { outboxMatches } from './outbox.ts';
import { pricesAreOfCatalog } from './prices.ts';
import { queuesResult } from './queues.ts';
import { sessionsResult } from './sessions.ts';
import { shipmentsMatch } from './shipments.ts';
import { checkInventory, stockMatches } from './stock.ts';
import { terminal } from './terminal.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
/** Of a declined payment; what was declined is compared with the limit, not with the order. */
const ABOVE_LIMIT = 5_000_001;
const all = [terminal, moneyMatches, stockMatches, outboxMatches, shipmentsMatch, inboxMatches];
const check = (facts: readonly OrderFacts[], settledAt: number | undefined = undefined): Promise<InvariantResult[]> =>
  checkOrders(all, facts, { clock: { at: NOW, settledAt }, missing: new Map() });
const violated = (results: readonly InvariantResult[]) =>
  results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);

const line = fc.record({
  productId: fc.integer({ min: 1, max: 12 }),
  quantity: fc.integer({ min: 1, max: 10 }),
  priceKopiykas: fc.integer({ min: 1, max: 40_000 }),
});
const lines = fc.uniqueArray(line, { minLength: 1, maxLength: 4, selector: ({ productId }) => productId });
const base = fc.record({
  orderId: fc.uuid(),
  messageId: fc.uuid(),
  lines,
  createdAt: fc.integer({ min: NOW - 1_000 * HOUR, max: NOW - HOUR }),
});
type Base = typeof base extends fc.Arbitrary<infer T> ? T : never;

function orderOf(
  { lines: own, createdAt, orderId }: Base,
  status: 'Confirmed' | 'Cancelled',
  reason: string | null,
): OrderFact {
  return {
    status,
    reason,
    state: status,
    open: false,
    lines: own,
    totalKopiykas: own.reduce((sum, { quantity, priceKopiykas }) => sum + quantity * priceKopiykas, 0),
    currency: 'UAH',
    traceId: orderId.replaceAll('-', ''),
    createdAt,
    decidedAt: createdAt + 50,
    idempotencyKey: undefined,
  };
}

function confirmedFacts(from: Base): OrderFacts {
  const order = orderOf(from, 'Confirmed', null);
  const { orderId, messageId } = from;
  const { totalKopiykas: total, traceId, createdAt } = order;
  const changedAt = createdAt + 1_000;
  return {
    orderId,
    order,
    payments: [{ state: 'accepted', amountKopiykas: total, currency: 'UAH', changedAt }],
    effects: [{ kind: 'charge', amountKopiykas: total, currency: 'UAH', changedAt }],
    reservations: [{ state: 'reserved', lines: from.lines.toReversed(), changedAt }],
    outbox: [
      {
        messageId,
        type: 'order.confirmed',
        traceId,
        event: {
          id: messageId,
          type: 'order.confirmed',
          source: '/shop/orders',
          orderId,
          totalKopiykas: total,
          currency: 'UAH',
          lines: from.lines.map(({ productId, quantity }) => ({ productId, quantity })),
        },
        createdAt,
        publishedAt: createdAt + 500,
      },
    ],
    inbox: [{ messageId, type: 'order.confirmed', changedAt }],
    shipments: [{ shipmentId: messageId, lines: from.lines, changedAt }],
    parcels: [{ lines: from.lines, changedAt }],
  };
}

function cancelledFacts(from: Base, [reason, payment, reservation]: readonly [string, string, string]): OrderFacts {
  const order = orderOf(from, 'Cancelled', reason);
  const none = { outbox: [], inbox: [], shipments: [], parcels: [] };
  const amountKopiykas = payment === 'declined' ? ABOVE_LIMIT : order.totalKopiykas;
  const changedAt = order.createdAt + 1_000;
  const effects = payment === 'refunded' ? (['charge', 'refund'] as const) : [];
  return {
    ...none,
    orderId: from.orderId,
    order,
    payments: payment === '' ? [] : [{ state: payment, amountKopiykas, currency: 'UAH', changedAt }],
    effects: effects.map((kind) => ({ kind, amountKopiykas, currency: 'UAH', changedAt })),
    reservations: reservation === '' ? [] : [{ state: reservation, lines: from.lines, changedAt }],
  };
}

/** The second version beside the first: another message about the same order, of which one is shipped. */
function withSecondVersion(facts: OrderFacts): OrderFacts {
  const type = 'order.confirmed.v2';
  const lines = facts.order?.lines ?? [];
  const second = facts.outbox.map((row) => {
    const messageId = `${row.messageId}-2`;
    return { ...row, messageId, type, event: { ...row.event, id: messageId, type, lines } };
  });
  return {
    ...facts,
    outbox: [...facts.outbox, ...second],
    inbox: [...facts.inbox, ...second.map(({ messageId, type }) => ({ messageId, type, changedAt: NOW }))],
  };
}

const cancellations = fc.constantFrom(
  ['payment declined', 'declined', 'released'] as const,
  ['payment unavailable', 'refunded', 'released'] as const,
  ['payment unavailable', 'voided', 'released'] as const,
  ['payment unavailable', '', 'released'] as const,
  ['out of stock', '', 'insufficient'] as const,
  ['stock unavailable', '', 'released'] as const,
);
const confirmed = base.map(confirmedFacts);
const inBothVersions = confirmed.map(withSecondVersion);
const cancelled = fc.tuple(base, cancellations).map(([from, how]) => cancelledFacts(from, how));

describe('a ledger that balances', () => {
  it('violates nothing, whatever orders it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(confirmed, inBothVersions, cancelled), { maxLength: 20 }), async (facts) => {
        expect(violated(await check(facts))).toEqual([]);
      }),
    );
  });
});

type Change = readonly [string, (facts: OrderFacts) => OrderFacts, string];

const changeOrder = (change: Partial<OrderFact>) => (f: OrderFacts) => ({
  ...f,
  order: { ...(f.order as OrderFact), ...change },
});

const changesOfConfirmed: readonly Change[] = [
  ['a reason', changeOrder({ reason: 'out of stock' }), 'I1'],
  ['marked as open', changeOrder({ open: true }), 'I1'],
  ['no payment', (f) => ({ ...f, payments: [] }), 'I4'],
  ['two payments', (f) => ({ ...f, payments: [...f.payments, ...f.payments] }), 'I4'],
  [
    'another amount',
    (f) => ({ ...f, payments: f.payments.map((p) => ({ ...p, amountKopiykas: (p.amountKopiykas ?? 0) + 1 })) }),
    'I4',
  ],
  ['refunded', (f) => ({ ...f, payments: f.payments.map((p) => ({ ...p, state: 'refunded' })) }), 'I4'],
  ['charged twice, the payment written once', (f) => ({ ...f, effects: [...f.effects, ...f.effects] }), 'I4'],
  ['accepted, but nothing charged', (f) => ({ ...f, effects: [] }), 'I4'],
  [
    'another sum charged than the payment says',
    (f) => ({ ...f, effects: f.effects.map((e) => ({ ...e, amountKopiykas: e.amountKopiykas + 1 })) }),
    'I4',
  ],
  [
    'charged in another currency than the payment says',
    (f) => ({ ...f, effects: f.effects.map((e) => ({ ...e, currency: 'EUR' })) }),
    'I4',
  ],
  [
    'refunded, the payment not changed',
    (f) => ({ ...f, effects: [...f.effects, ...f.effects.map((e) => ({ ...e, kind: 'refund' }))] }),
    'I4',
  ],
  ['no reservation', (f) => ({ ...f, reservations: [] }), 'I5'],
  ['released', (f) => ({ ...f, reservations: f.reservations.map((r) => ({ ...r, state: 'released' })) }), 'I5'],
  [
    'other units',
    (f) => ({ ...f, reservations: f.reservations.map((r) => ({ ...r, lines: r.lines.slice(1) })) }),
    'I5',
  ],
  ['no event', (f) => ({ ...f, outbox: [] }), 'I6'],
  ['an event about other lines', (f) => ({ ...f, outbox: f.outbox.map(saying(() => ({ lines: [] }))) }), 'I6'],
  ['two events', (f) => ({ ...f, outbox: [...f.outbox, ...f.outbox] }), 'I6'],
  [
    'an event in another trace',
    (f) => ({ ...f, outbox: f.outbox.map((e) => ({ ...e, traceId: 'f'.repeat(32) })) }),
    'I6',
  ],
  ['no shipment', (f) => ({ ...f, shipments: [] }), 'I7'],
  ['two shipments', (f) => ({ ...f, shipments: [...f.shipments, ...f.shipments] }), 'I7'],
  ['a shipment without lines', (f) => ({ ...f, shipments: f.shipments.map((s) => ({ ...s, lines: [] })) }), 'I7'],
  [
    'a shipment of other lines',
    (f) => ({
      ...f,
      shipments: f.shipments.map((s) => ({ ...s, lines: [...s.lines, { productId: 99, quantity: 1 }] })),
    }),
    'I7',
  ],
  ['a second parcel, the shipment written once', (f) => ({ ...f, parcels: [...f.parcels, ...f.parcels] }), 'I7'],
  ['a shipment without a parcel', (f) => ({ ...f, parcels: [] }), 'I7'],
  ['a parcel of other lines than the shipment', (f) => ({ ...f, parcels: [{ lines: [], changedAt: NOW }] }), 'I7'],
  ['a message twice', (f) => ({ ...f, inbox: [...f.inbox, ...f.inbox] }), 'I8'],
  ['no message', (f) => ({ ...f, inbox: [] }), 'I8'],
];

const ofSecond = (change: (event: OutboxFact) => OutboxFact) => (f: OrderFacts) => ({
  ...f,
  outbox: f.outbox.map((event) => (event.type === 'order.confirmed.v2' ? change(event) : event)),
});

describe('what is older than the horizon', () => {
  const DAY = 24 * HOUR;
  const PARTS = ['payments', 'effects', 'reservations', 'outbox', 'inbox', 'shipments', 'parcels'] as const;
  const aged = (facts: OrderFacts, createdAt: number): OrderFacts => {
    const old = <Fact extends object>(all: readonly Fact[]) => all.map((fact) => ({ ...fact, changedAt: createdAt }));
    return {
      ...facts,
      order: { ...(facts.order as OrderFact), createdAt, decidedAt: createdAt },
      payments: old(facts.payments),
      effects: old(facts.effects),
      reservations: old(facts.reservations),
      inbox: old(facts.inbox),
      shipments: old(facts.shipments),
      parcels: old(facts.parcels),
    };
  };
  const old = fc
    .tuple(fc.oneof(confirmed, inBothVersions, cancelled), fc.integer({ min: 366, max: 4_000 }))
    .map(([facts, days]) => aged(facts, NOW - days * DAY));
  const without = (facts: OrderFacts, gone: readonly (typeof PARTS)[number][]): OrderFacts => ({
    ...facts,
    ...Object.fromEntries(gone.map((part) => [part, []])),
  });

  it('may be missing in any of the databases, the order included', async () => {
    await fc.assert(
      fc.asyncProperty(old, fc.subarray([...PARTS]), fc.boolean(), async (facts, gone, isGone) => {
        const left = without(facts, gone);
        expect(violated(await check([isGone ? { ...left, order: undefined, outbox: [] } : left]))).toEqual([]);
      }),
    );
  });

  it('excuses nothing of a younger order', async () => {
    const orders = fc.sample(confirmed, { numRuns: 20, seed: 1 });
    const incomplete = orders.map((one) => without(aged(one, NOW - 364 * DAY), ['outbox', 'inbox', 'payments']));
    expect(violated(await check(incomplete))).toEqual(['I4', 'I6', 'I8']);
  });

  it('excuses nothing that is changed within the horizon, whether or not its order is still there', async () => {
    const again = (facts: OrderFacts): OrderFacts => ({
      ...facts,
      payments: [],
      reservations: [],
      effects: [...facts.effects, { kind: 'charge', amountKopiykas: 1, currency: 'UAH', changedAt: NOW - HOUR }],
    });
    await fc.assert(
      fc.asyncProperty(old, fc.boolean(), async (facts, isGone) => {
        const changed = again(facts);
        const seen = isGone ? { ...changed, order: undefined, outbox: [] } : changed;
        expect(violated(await check([seen]))).toEqual(['I4']);
      }),
    );
  });
});

const saying =
  (change: (event: OutboxFact['event']) => Partial<OutboxFact['event']>) =>
  (row: OutboxFact): OutboxFact => ({ ...row, event: { ...row.event, ...change(row.event) } });

const changesOfSecondVersion: readonly Change[] = [
  ['another order', ofSecond(saying(() => ({ orderId: 'another' }))), 'I6'],
  ['another total', ofSecond(saying(({ totalKopiykas = 0 }) => ({ totalKopiykas: totalKopiykas + 1 }))), 'I6'],
  ['another currency', ofSecond(saying(() => ({ currency: 'EUR' }))), 'I6'],
  ['another id', ofSecond(saying(() => ({ id: 'another' }))), 'I6'],
  ['the type of the first', ofSecond(saying(() => ({ type: 'order.confirmed' }))), 'I6'],
  ['another source', ofSecond(saying(() => ({ source: '/shop/catalog' }))), 'I6'],
  ['a line less', ofSecond(saying(({ lines: all }) => ({ lines: all.slice(1) }))), 'I6'],
  [
    'another price',
    ofSecond(saying(({ lines: all }) => ({ lines: all.map((one) => ({ ...one, priceKopiykas: 0 })) }))),
    'I6',
  ],
  [
    'a version that there is not',
    ofSecond((e) => ({ ...e, type: 'order.confirmed.v3', event: { ...e.event, type: 'order.confirmed.v3' } })),
    'I6',
  ],
  ['another trace', ofSecond((e) => ({ ...e, traceId: 'f'.repeat(32) })), 'I6'],
  ['never published', ofSecond((e) => ({ ...e, publishedAt: undefined })), 'I6'],
  ['the first version missing', (f) => ({ ...f, outbox: f.outbox.slice(1), inbox: f.inbox.slice(1) }), 'I6'],
];

const changesOfCancelled: readonly Change[] = [
  ['no status', changeOrder({ status: null, reason: null }), 'I1'],
  ['no reason', changeOrder({ reason: null }), 'I1'],
  ['marked as open', changeOrder({ open: true }), 'I1'],
  ['compensating, but marked as ended', changeOrder({ state: 'Compensating' }), 'I1'],
  ['a state that there is not', changeOrder({ state: 'Canceled' }), 'I1'],
  [
    'another state of its payment',
    (f) => ({ ...f, payments: [{ state: 'Refunded', amountKopiykas: 1, currency: 'UAH', changedAt: NOW }] }),
    'I4',
  ],
  [
    'another state of its reservation',
    (f) => ({ ...f, reservations: [{ state: 'Released', lines: [], changedAt: NOW }] }),
    'I5',
  ],
  [
    'declined within the limit',
    (f) => ({
      ...f,
      order: { ...(f.order as OrderFact), reason: 'payment declined' },
      payments: [{ state: 'declined', amountKopiykas: 5_000_000, currency: 'UAH', changedAt: NOW }],
      effects: [],
    }),
    'I4',
  ],
  [
    'charged',
    (f) => ({ ...f, payments: [{ state: 'accepted', amountKopiykas: 1, currency: 'UAH', changedAt: NOW }] }),
    'I4',
  ],
  [
    'a charge that no payment says',
    (f) => ({
      ...f,
      payments: [],
      effects: [{ kind: 'charge', amountKopiykas: 1, currency: 'UAH', changedAt: NOW }],
      order: { ...(f.order as OrderFact), reason: 'payment unavailable' },
    }),
    'I4',
  ],
  ['a parcel', (f) => ({ ...f, parcels: [{ lines: f.order?.lines ?? [], changedAt: NOW }] }), 'I7'],
  [
    'an open charge',
    (f) => ({ ...f, payments: [{ state: 'attempted', amountKopiykas: 1, currency: 'UAH', changedAt: NOW }] }),
    'I4',
  ],
  [
    'units kept',
    (f) => ({ ...f, reservations: [{ state: 'reserved', lines: [{ productId: 1, quantity: 1 }], changedAt: NOW }] }),
    'I5',
  ],
  [
    'shipped',
    (f) => ({
      ...f,
      shipments: [{ shipmentId: 's', lines: [], changedAt: NOW }],
      inbox: [{ messageId: 'm', type: 't', changedAt: NOW }],
    }),
    'I7',
  ],
];

describe('one change is found by exactly one invariant, which names the order', () => {
  const expectOne = async (facts: OrderFacts, others: readonly OrderFacts[], id: string) => {
    const results = await check([...others, facts]);
    expect(violated(results)).toEqual([id]);
    expect(results.flatMap(({ violations }) => violations.map(({ orderId }) => orderId))).toEqual([facts.orderId]);
  };

  it.each(changesOfConfirmed)('Confirmed, %s', async (_title, change, id) => {
    await fc.assert(
      fc.asyncProperty(confirmed, fc.array(cancelled, { maxLength: 3 }), (facts, others) =>
        expectOne(change(facts), others, id),
      ),
      { numRuns: 30 },
    );
  });

  it.each(changesOfSecondVersion)('Confirmed in two versions, the second with %s', async (_title, change, id) => {
    await fc.assert(
      fc.asyncProperty(inBothVersions, fc.array(confirmed, { maxLength: 3 }), (facts, others) =>
        expectOne(change(facts), others, id),
      ),
      { numRuns: 30 },
    );
  });

  const refunded = fc
    .tuple(base, fc.constant(['payment unavailable', 'refunded', 'released'] as const))
    .map(([from, how]) => cancelledFacts(from, how));

  it.each<Change>([
    [
      'refunded twice, the payment written once',
      (f) => ({ ...f, effects: [...f.effects, ...f.effects.slice(1)] }),
      'I4',
    ],
    ['never refunded', (f) => ({ ...f, effects: f.effects.slice(0, 1) }), 'I4'],
    ['refunded and never charged', (f) => ({ ...f, effects: f.effects.slice(1) }), 'I4'],
    ['refunded before it was charged', (f) => ({ ...f, effects: f.effects.toReversed() }), 'I4'],
  ])('Cancelled and its payment refunded, %s', async (_title, change, id) => {
    await fc.assert(
      fc.asyncProperty(refunded, fc.array(confirmed, { maxLength: 3 }), (facts, others) =>
        expectOne(change(facts), others, id),
      ),
      { numRuns: 30 },
    );
  });

  it.each(changesOfCancelled)('Cancelled, %s', async (_title, change, id) => {
    await fc.assert(
      fc.asyncProperty(cancelled, fc.array(confirmed, { maxLength: 3 }), (facts, others) =>
        expectOne(change(facts), others, id),
      ),
      { numRuns: 30 },
    );
  });

  it('an open saga has 30 s, and none once everything had ended', async () => {
    await fc.assert(
      fc.asyncProperty(confirmed, fc.integer({ min: 0, max: 120_000 }), async (facts, ageMs) => {
        const order = {
          ...(facts.order as OrderFact),
          state: 'Started',
          status: null,
          open: true,
          decidedAt: undefined,
          createdAt: NOW - ageMs,
        };
        const open: OrderFacts = {
          orderId: facts.orderId,
          order,
          payments: [],
          effects: [],
          reservations: [],
          outbox: [],
          inbox: [],
          shipments: [],
          parcels: [],
        };
        expect(violated(await check([open]))).toEqual(ageMs > 30_000 ? ['I1'] : []);
        expect(violated(await check([open], NOW))).toEqual(['I1']);
      }),
    );
  });
});

describe('stock per product', () => {
  it('balances exactly when what was there at first is on hand or reserved', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_000), fc.integer({ min: -5, max: 5 }), (onHand, reserved, drift) => {
        const inventory = [{ productId: 1, onHand, initialOnHand: onHand + reserved + drift, reserved }];
        const kinds = checkInventory(inventory).map(({ kind }) => kind);
        expect(kinds).toEqual(drift === 0 ? [] : [drift > 0 ? 'lost' : 'unexpected']);
      }),
    );
  });
});

describe('queues', () => {
  const queues = (ready: number, discarded: number) => [
    { name: 'shipping.order-confirmed', ready, unacknowledged: 0, consumers: 1 },
    { name: 'shipping.dead-letters', ready: discarded, unacknowledged: 0, consumers: 0 },
  ];

  it('hold no more than what may be on its way, and exactly the injected poison', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5), (ready, onTheirWay, discarded, deadLetters) => {
        const { verdict } = queuesResult(queues(ready, discarded), { onTheirWay, deadLetters });
        expect(verdict).toBe(ready <= onTheirWay && discarded === deadLetters ? 'pass' : 'fail');
      }),
    );
  });

  it('are not empty while a message waits to be retried', () => {
    const retries = { name: 'shipping.order-confirmed.retries', ready: 1, unacknowledged: 0, consumers: 0 };
    expect(queuesResult([...queues(0, 0), retries], { onTheirWay: 0, deadLetters: 0 }).verdict).toBe('fail');
  });

  it('that are not there are unknown', () => {
    expect(queuesResult([], { onTheirWay: 0, deadLetters: 0 }).verdict).toBe('unknown');
  });
});

describe('metrics', () => {
  const both = (count: number): ByStatus => ({ Confirmed: count, Cancelled: count });
  const evidence = (counted: number, low: number, high: number, lost = 0): MetricEvidence => ({
    reports: [
      {
        name: 'orders-1 (1)',
        ended: false,
        reportedAt: NOW,
        sagas: both(counted),
        durations: both(counted),
        durationSums: both(0),
        recoveries: 0,
        pending: 0,
      },
    ],
    reported: both(low),
    decided: both(high),
    maybeLost: both(lost),
    pending: { now: 0, lowest: 0, highest: 0 },
    unreported: 0,
    waited: both(0),
    gaps: [],
    dropped: [],
  });

  it('lie between what must have been reported and what was decided; what a kill may have taken is unknown', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.nat(20), fc.nat(20), (counted, low, more, lost) => {
        const { verdict } = metricsResult(evidence(counted, low, low + more, lost));
        const isShort = counted < low;
        const expected = counted > low + more ? 'fail' : !isShort ? 'pass' : low - counted <= lost ? 'unknown' : 'fail';
        expect(verdict).toBe(expected);
      }),
    );
  });

  it('leave out what kills had taken before, and nothing else', () => {
    const before = evidence(8, 10, 10, 2);
    const lostBefore = lostUntilNow(before);
    expect(lostBefore).toEqual(both(2));
    expect(metricsResult(before).verdict).toBe('unknown');
    expect(metricsResult({ ...evidence(13, 15, 15, 2), lostBefore }).verdict).toBe('pass');
    // Another one is missing: a kill since then explains it, or none does.
    expect(metricsResult({ ...evidence(12, 15, 15, 3), lostBefore }).verdict).toBe('unknown');
    expect(metricsResult({ ...evidence(12, 15, 15, 2), lostBefore }).verdict).toBe('fail');
    // What no kill explains stays a violation.
    expect(lostUntilNow(evidence(7, 10, 10, 2))).toEqual(both(0));
  });

  it('a shortage of one status is excused by what explains that status only', () => {
    const lost = { Confirmed: 0, Cancelled: 2 };
    const counted = { Confirmed: 8, Cancelled: 8 };
    const [report] = evidence(10, 10, 10).reports as [MetricEvidence['reports'][number]];
    const reports = [{ ...report, sagas: counted, durations: counted }];
    const result = metricsResult({ ...evidence(10, 10, 10), reports, maybeLost: lost });
    expect(result.verdict).toBe('fail');
    expect(result.violations.map(({ detail }) => detail)).toEqual([
      'shop.sagas{status=Confirmed} is 8, 10 orders are Confirmed',
    ]);
    expect(result.evidence).toContain('2 Cancelled not counted, which a killed process may have taken with it');
  });

  it('what the metric store did not keep excuses a shortage, and makes nothing unknown without one', () => {
    const dropped = ['the metric store has forgotten 3 processes'];
    expect(metricsResult({ ...evidence(8, 10, 10), dropped })).toMatchObject({
      verdict: 'unknown',
      evidence: expect.stringContaining('2 Confirmed not counted, and the metric store has forgotten 3 processes'),
    });
    expect(metricsResult({ ...evidence(10, 10, 10), dropped }).verdict).toBe('pass');
    expect(metricsResult({ ...evidence(11, 10, 10), dropped }).verdict).toBe('fail');
  });

  it.each([
    ['ms', 3_000, 'pass'],
    ['ms and a slow database', 25_000, 'pass'],
    ['seconds', 3, 'fail'],
    ['nothing', 0, 'fail'],
    ['microseconds', 3_000_000, 'fail'],
  ])('durations of orders that took 3 s, in %s', (_unit, ms, verdict) => {
    const of = (recoveries: number): MetricEvidence => {
      const [report] = evidence(2, 2, 2).reports as [MetricEvidence['reports'][number]];
      return {
        ...evidence(2, 2, 2),
        waited: both(3_000),
        reports: [{ ...report, durationSums: both(ms), recoveries }],
      };
    };
    expect(metricsResult(of(0)).verdict).toBe(verdict);
    // A recovered saga's time is that of two clocks.
    expect(metricsResult(of(1)).verdict).toBe('pass');
  });

  it('that no service reported are compared with nothing, which is unknown', () => {
    const [report] = evidence(5, 5, 5).reports;
    const withoutGauge = [{ ...report, pending: undefined }] as MetricEvidence['reports'];
    expect(metricsResult({ ...evidence(5, 5, 5), reports: withoutGauge })).toMatchObject({
      verdict: 'unknown',
      evidence: expect.stringContaining('orders-1 (1) has not reported shop.outbox.pending'),
    });
    expect(metricsResult({ ...evidence(0, 0, 0), reports: [] }).verdict).toBe('unknown');
    // A violation is certain all the same.
    expect(
      metricsResult({
        ...evidence(4, 5, 5),
        reports: [{ ...withoutGauge[0], sagas: both(4), durations: both(4) }] as MetricEvidence['reports'],
      }).verdict,
    ).toBe('fail');
  });
});

describe('sessions', () => {
  const session = { database: 'orders', instance: 'orders-1', connections: 8, poolSize: 8 };

  it('of an instance that should be there and is not are unknown', () => {
    expect(sessionsResult([session], [], ['orders-1']).verdict).toBe('pass');
    expect(sessionsResult([session], [], ['orders-1', 'stock-1'])).toMatchObject({
      verdict: 'unknown',
      evidence: expect.stringContaining('stock-1 has no connection'),
    });
    expect(sessionsResult([], [], ['orders-1']).verdict).toBe('unknown');
    expect(sessionsResult([{ ...session, connections: 9 }], [], ['stock-1']).verdict).toBe('fail');
  });
});

describe('prices', () => {
  const order = (createdAt: number, lines: OrderFact['lines'], currency = 'UAH'): OrderFacts => {
    const facts = confirmedFacts({ orderId: 'o', messageId: 'm', lines: [...lines], createdAt });
    return { ...facts, order: { ...(facts.order as OrderFact), currency } };
  };
  const prices = [
    { productId: 1, priceKopiykas: 100, currency: 'UAH', validFrom: Number.NEGATIVE_INFINITY },
    { productId: 1, priceKopiykas: 200, currency: 'UAH', validFrom: NOW },
  ];
  const at = (createdAt: number, priceKopiykas: number, currency?: string) =>
    checkOrders(
      [pricesAreOfCatalog(prices)],
      [order(createdAt, [{ productId: 1, quantity: 1, priceKopiykas }], currency)],
      {
        clock: { at: NOW, settledAt: undefined },
        missing: new Map(),
      },
    ).then(([result]) => result?.verdict);

  it.each([
    ['the old price before the change', -60_000, 100, 'pass'],
    ['the new price before the change', -60_000, 200, 'fail'],
    ['the old price right after it: it was read before', 10_000, 100, 'pass'],
    ['the old price long after it', 16_000, 100, 'fail'],
    ['the new price after it', 60_000, 200, 'pass'],
    ['a price that the product never had', 0, 150, 'fail'],
  ])('%s', async (_title, ms, price, verdict) => {
    expect(await at(NOW + ms, price)).toBe(verdict);
  });

  it('in another currency than the product has', async () => {
    expect(await at(NOW - 60_000, 100, 'EUR')).toBe('fail');
  });
});

describe('the responses of clients', () => {
  const checked = async (history: Partial<History>, orders: readonly Partial<OrderFact>[]) => {
    const none = { acknowledged: new Map(), flipped: new Set<string>(), unclear: new Set<string>(), window: undefined };
    const whole: History = { ...none, unclearKeys: new Set(), unclearWithoutKey: 0, ...history };
    const facts = orders.map((change, index) => {
      const cancelledOne = cancelledFacts({ orderId: `o${index}`, messageId: 'm', lines: [], createdAt: NOW }, [
        'out of stock',
        '',
        'insufficient',
      ]);
      return { ...cancelledOne, order: { ...(cancelledOne.order as OrderFact), ...change } };
    });
    const results = await checkOrders([acknowledgedIsDurable(whole), ordersWereAskedFor(whole)], facts, {
      clock: { at: NOW, settledAt: undefined },
      missing: new Map(),
    });
    return results.flatMap(({ id, violations }) => violations.map(({ kind, orderId }) => `${id} ${kind} ${orderId}`));
  };
  const acknowledged = (reason: string | undefined) => ({
    acknowledged: new Map([['o0', { status: 'Cancelled', reason } as const]]),
  });

  it('includes the reason', async () => {
    expect(await checked(acknowledged('out of stock'), [{}])).toEqual([]);
    expect(await checked(acknowledged(undefined), [{}])).toEqual([]);
    expect(await checked(acknowledged('payment declined'), [{}])).toEqual(['I2 wrong o0']);
  });

  it('a request without a response is matched with its own order by its key, and excuses no other', async () => {
    const unclearKeys = new Set(['a']);
    expect(await checked({ unclearKeys }, [{ idempotencyKey: 'a' }])).toEqual(['I3 recovered o0']);
    expect(await checked({ unclearKeys }, [{ idempotencyKey: 'b' }])).toEqual(['I3 unexpected o0']);
    expect(await checked({ unclearWithoutKey: 1 }, [{}])).toEqual(['I3 recovered o0']);
    expect(await checked({ unclearWithoutKey: 1 }, [{}, {}])).toEqual(['I3 unexpected o0', 'I3 unexpected o1']);
  });
});
