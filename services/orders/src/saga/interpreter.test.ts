import type { FailpointName } from '@shop/kit/failpoint-names.ts';
import { describe, expect, it } from 'vitest';
import { aSaga } from '../testing/sagas.ts';
import { Crash, type Script, scriptedPorts } from '../testing/scripted-ports.ts';
import { runSaga } from './interpreter.ts';
import type { Saga } from './saga.ts';

/*
 * The interpreter under scripted ports, twice: straight, and with a crash at every boundary followed by a recovery from
 * the stored row. Both must leave the same row behind; after a crash steps may be repeated, which their keys absorb.
 */

const BOUNDARIES: readonly FailpointName<'orders'>[] = [
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
];
const declined: Script = { steps: { 'charge payment': { kind: 'refused', reason: 'payment declined' } } };
const chargeUnknown: Script = { steps: { 'charge payment': new Error('no response in 2000 ms') } };
const reserveUnknown: Script = { steps: { 'reserve stock': new Error('UNAVAILABLE') } };
const outOfStock: Script = { steps: { 'reserve stock': { kind: 'refused', reason: 'out of stock' } } };

/** Runs from the stored row again after each crash and each wait, as recovery does. */
async function runToEnd(script: Script, start: Saga = aSaga()) {
  const world = scriptedPorts(start, script);
  for (let runs = 1; runs <= 20; runs += 1) {
    const result = await runSaga(world.stored, world.ports).catch((error: unknown) => {
      if (error instanceof Crash) return undefined;
      throw error;
    });
    if (result?.kind === 'ended') return { ...world, stored: world.stored, runs };
  }
  throw new Error('the saga did not end within 20 runs');
}

describe('straight through', () => {
  it('reserves, charges and confirms, each saved before the next', async () => {
    const { did, decided, stored } = await runToEnd({});
    expect(did).toEqual([
      'reserve stock',
      'save StockReserved',
      'charge payment',
      'save PaymentCharged',
      'confirm Confirmed',
    ]);
    expect(decided).toEqual(['Confirmed']);
    expect(stored).toMatchObject({ state: 'Confirmed', version: 4, reason: null });
  });

  it('releases the reserved stock when the payment is declined', async () => {
    const { did, decided } = await runToEnd(declined);
    expect(did.slice(2)).toEqual(['charge payment', 'save Compensating', 'release stock', 'save Cancelled']);
    expect(decided).toEqual(['Compensating payment declined']);
  });

  it('refunds and releases, in this order, when the charge had no clear response', async () => {
    const { did, stored } = await runToEnd(chargeUnknown);
    expect(did.slice(3)).toEqual([
      'save Compensating',
      'refund payment',
      'save Compensating',
      'release stock',
      'save Cancelled',
    ]);
    expect(stored).toMatchObject({ reason: 'payment unavailable', pending: [], lastError: null });
  });

  it('releases what may have been reserved when stock had no clear response', async () => {
    const { did } = await runToEnd(reserveUnknown);
    expect(did).toEqual(['reserve stock', 'save Compensating', 'release stock', 'save Cancelled']);
  });

  it('compensates nothing when the stock is insufficient', async () => {
    const { did, decided } = await runToEnd(outOfStock);
    expect(did).toEqual(['reserve stock', 'save Cancelled']);
    expect(decided).toEqual(['Cancelled out of stock']);
  });

  it.each(['Confirmed', 'Cancelled'] as const)('does nothing in %s', async (state) => {
    const { did, decided } = await runToEnd({}, aSaga({ state }));
    expect([did, decided]).toEqual([[], []]);
  });
});

describe.each([
  ['confirmed', {}, 'Confirmed', null],
  ['declined', declined, 'Cancelled', 'payment declined'],
  ['charge unknown', chargeUnknown, 'Cancelled', 'payment unavailable'],
  ['reserve unknown', reserveUnknown, 'Cancelled', 'stock unavailable'],
  ['out of stock', outOfStock, 'Cancelled', 'out of stock'],
] as const)('with a crash: %s', (_name, script: Script, state, reason) => {
  it.each(BOUNDARIES)(`at %s ends ${state}`, async (boundary) => {
    const { stored, decided } = await runToEnd({ ...script, crashAt: new Set([boundary]) });
    expect(stored).toMatchObject({ state, reason, pending: [] });
    expect(decided.length).toBeLessThanOrEqual(1);
  });

  it(`at every boundary in turn ends ${state}`, async () => {
    const { stored, runs } = await runToEnd({ ...script, crashAt: new Set(BOUNDARIES) });
    expect(stored).toMatchObject({ state, reason, pending: [] });
    expect(runs).toBeGreaterThan(2);
  });
});

describe('after a crash', () => {
  it.each([
    ['stock-reserved:unsaved', 'reserve stock', 2],
    ['stock-reserved:saved', 'reserve stock', 1],
    ['payment-charged:unsaved', 'charge payment', 2],
    ['payment-charged:saved', 'charge payment', 1],
  ] as const)('at %s %s is run %i time(s)', async (boundary, step, times) => {
    const { did } = await runToEnd({ crashAt: new Set<FailpointName<'orders'>>([boundary]) });
    expect(did.filter((name) => name === step)).toHaveLength(times);
  });

  it('at order-confirmed:unsaved nothing is confirmed until recovery does it', async () => {
    const world = scriptedPorts(aSaga({ state: 'PaymentCharged' }), {
      crashAt: new Set<FailpointName<'orders'>>(['order-confirmed:unsaved']),
    });
    await expect(runSaga(world.stored, world.ports)).rejects.toThrow(Crash);
    expect(world.stored.state).toBe('PaymentCharged');
    expect(world.decided).toEqual([]);
  });

  it('at step-compensated:unsaved a compensation whose success was not saved is repeated', async () => {
    const { did } = await runToEnd({
      ...declined,
      crashAt: new Set<FailpointName<'orders'>>(['step-compensated:unsaved']),
    });
    expect(did.filter((name) => name === 'release stock')).toHaveLength(2);
  });
});

describe('a failing compensation', () => {
  const compensating = aSaga({
    state: 'Compensating',
    reason: 'payment unavailable',
    pending: ['refund payment', 'release stock'],
    version: 3,
  });

  it('does not keep the others from being done', async () => {
    const world = scriptedPorts(compensating, { failures: { 'refund payment': 1 } });
    const result = await runSaga(world.stored, world.ports);
    expect(result.kind).toBe('waiting');
    expect(world.stored).toMatchObject({
      state: 'Compensating',
      pending: ['refund payment'],
      attempts: 1,
      lastError: 'refund payment: unavailable',
    });
  });

  it('is tried again until it succeeds, the others are not', async () => {
    const { did, runs } = await runToEnd({ failures: { 'refund payment': 3 } }, compensating);
    expect(runs).toBe(4);
    expect(did.filter((name) => name.startsWith('refund'))).toHaveLength(4);
    expect(did.filter((name) => name === 'release stock')).toHaveLength(1);
  });

  it('reports no status again', async () => {
    const { decided } = await runToEnd({ failures: { 'release stock': 2 } }, compensating);
    expect(decided).toEqual([]);
  });
});

describe('a saga that another run owns', () => {
  it.each([
    [1, {}, ['reserve stock']],
    [2, {}, ['reserve stock', 'save StockReserved', 'charge payment']],
    [3, {}, ['reserve stock', 'save StockReserved', 'charge payment', 'save PaymentCharged']],
    [
      3,
      chargeUnknown,
      ['reserve stock', 'save StockReserved', 'charge payment', 'save Compensating', 'refund payment'],
    ],
  ])('is left alone when save %i is refused', async (fencedFromSave, script: Script, expected) => {
    const world = scriptedPorts(aSaga(), { ...script, fencedFromSave });
    const { kind } = await runSaga(world.stored, world.ports);
    expect(kind).toBe('fenced');
    expect(world.did).toEqual(expected);
  });

  it('is not reported as decided', async () => {
    const world = scriptedPorts(aSaga(), { ...declined, fencedFromSave: 2 });
    await runSaga(world.stored, world.ports);
    expect(world.decided).toEqual([]);
  });

  it('is left alone when the round of compensation cannot be noted', async () => {
    const start = aSaga({ state: 'Compensating', reason: 'stock unavailable', pending: ['release stock'] });
    const world = scriptedPorts(start, { failures: { 'release stock': 1 }, fencedFromSave: 1 });
    expect(await runSaga(world.stored, world.ports)).toEqual({ kind: 'fenced', saga: start });
  });
});

describe('a save that fails', () => {
  it.each([1, 2, 3])(
    'number %i ends the run with the error, and recovery goes on from the row',
    async (failingSave) => {
      const world = scriptedPorts(aSaga(), { failingSave });
      await expect(runSaga(world.stored, world.ports)).rejects.toThrow('no response from the database');
      expect(world.decided).toEqual([]);
      expect(await runSaga(world.stored, world.ports)).toMatchObject({ kind: 'ended', saga: { state: 'Confirmed' } });
    },
  );
});
