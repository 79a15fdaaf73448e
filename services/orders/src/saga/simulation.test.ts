import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { histories, simulate } from '../testing/histories.ts';
import { shortId } from '../testing/orders-store.ts';
import type { SimulationResult } from '../testing/simulation-result.ts';
import { play } from '../testing/world.ts';

/*
 * Goal: whatever goes wrong, and in whatever order, every order has ended when the faults are over. Money, stock,
 * events and shipments agree with it.
 * Method: fast-check makes histories (orders; lost, late and doubled messages; outages; crashes and pauses at every
 * boundary; several instances). The real parts of the service play them in virtual time: saga runner, interpreter,
 * recovery, ownership, relay, clients and their call policies. Only databases, network, stock, payments, broker and
 * shipping are models. That this finds defects is shown by simulation.defects.test.ts.
 *
 * SIMULATION_RUNS sets the number of histories, SIMULATION_SEED repeats those of a failed run.
 */
const runs = Number(process.env.SIMULATION_RUNS ?? 3_000);
const seed = process.env.SIMULATION_SEED === undefined ? undefined : Number(process.env.SIMULATION_SEED);

describe('the order saga under faults', () => {
  it(`balances money, stock and events after ${runs} histories`, { timeout: 60_000 + runs * 50 }, async () => {
    await simulate((history) => play(history), { runs, ...(seed === undefined ? {} : { seed }) });
  });

  it('waits for faults that follow one another, however long they take together', async () => {
    const late = { at: 'deliver', times: 4 } as const;
    const { journal, shipping } = await play({
      instances: 1,
      orders: [{ atMs: 0, productId: 1, quantity: 1, withKey: false }],
      faults: [
        { ...late, nth: 0, fault: { kind: 'duplicate', ms: 15_000 } },
        { ...late, nth: 4, fault: { kind: 'delay request', ms: 15_000 } },
      ],
      outages: [],
    });
    expect(journal.violations).toEqual([]);
    expect(shipping.shipments).toHaveLength(1);
  });

  it('leaves an order alone that was started just before a pause, however long that is', async () => {
    const { journal } = await play({
      instances: 1,
      orders: [{ atMs: 3_300, productId: 1, quantity: 1, withKey: false }],
      faults: [{ at: 'order-started:saved', nth: 0, times: 1, fault: { kind: 'pause', ms: 12_000 } }],
      outages: [],
    });
    expect(journal.violations).toEqual([]);
  });

  it('plays a history the same way again', async () => {
    const [history] = fc.sample(histories, { numRuns: 1, seed: 42 });
    if (history === undefined) throw new Error('fast-check made no history');
    expect(journalOf(await play(history))).toBe(journalOf(await play(history)));
  });
});

/** The journal without the ids, which are random. */
function journalOf({ journal, store }: SimulationResult): string {
  return [...store.orders.keys()].reduce(
    (text, id, index) => text.replaceAll(shortId(id), `order ${index}`),
    journal.toString(),
  );
}

/** A simulation that never gets into trouble would prove nothing. */
describe('500 histories reach', { timeout: 60_000 }, () => {
  const ends = new Set<string>();
  let journals = '';

  beforeAll(async () => {
    for (const history of fc.sample(histories, { numRuns: 500, seed: 7 })) {
      const { store, journal } = await play(history);
      for (const { status, reason } of store.orders.values()) ends.add(reason ?? status ?? 'open');
      journals += `${journal}\n`;
    }
  }, 60_000);

  it.each(['Confirmed', 'out of stock', 'stock unavailable', 'payment declined', 'payment unavailable'])(
    'orders that end "%s"',
    (end) => {
      expect(ends).toContain(end);
    },
  );

  it.each([
    ['sagas adopted from another instance', /was adopted/],
    ['refunded charges', /refunded/],
    ['tombstones of charges', /voided/],
    ['stock given back', /released/],
    ['compensations tried again', /Compensating refund payment\n[\s\S]*?was adopted/],
    ['responses that come too late for the client', /order_outcome_pending/],
    ['replays of a request still at work', /request_in_progress/],
    ['keys repeated after a crash', /connection reset/],
  ])('%s', (_what, line) => {
    expect(journals).toMatch(line);
  });

  it.each([
    'order-received:unrecorded',
    'order-started:saved',
    'products-read:unrecorded',
    'stock-reserved:unsaved',
    'stock-reserved:saved',
    'payment-charged:unsaved',
    'payment-charged:saved',
    'order-confirmed:unsaved',
    'order-confirmed:saved',
    'step-failed:unsaved',
    'step-failed:saved',
    'step-compensated:unsaved',
    'order-compensated:saved',
    'batch-claimed:unpublished',
    'event-published:unconfirmed',
    'event-confirmed:unmarked',
    'batch-marked:committed',
  ])('a fault at boundary %s', (place) => {
    expect(journals).toContain(`reached ${place}\n`);
  });
});
