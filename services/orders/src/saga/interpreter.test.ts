import type { FailpointName } from '@shop/kit/failpoint-names.ts';
import { describe, expect, it } from 'vitest';
import { aSaga } from '../testing/sagas.ts';
import { Crash, type Script, scriptedPorts } from '../testing/scripted-ports.ts';
import { drive } from './interpreter.ts';
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
const chargeUnknown: Script = { steps: { 'charge payment': new Error('no answer in 2000 ms') } };
const reserveUnknown: Script = { steps: { 'reserve stock': new Error('UNAVAILABLE') } };
const outOfStock: Script = { steps: { 'reserve stock': { kind: 'refused', reason: 'out of stock' } } };

/** Drives from the stored row again after each crash and each wait, as recovery does. */
async function driveToEnd(script: Script, start: Saga = aSaga()) {
  const world = scriptedPorts(start, script);
  for (let drives = 1; drives <= 20; drives += 1) {
    const result = await drive(world.stored, world.ports).catch((error: unknown) => {
      if (error instanceof Crash) return undefined;
      throw error;
    });
    if (result?.kind === 'ended') return { ...world, stored: world.stored, drives };
  }
  throw new Error('the saga did not end within 20 drives');
}

describe('straight through', () => {
  it('reserves, charges and confirms, each saved before the next', async () => {
    const { did, decided, stored } = await driveToEnd({});
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
    const { did, decided } = await driveToEnd(declined);
    expect(did.slice(2)).toEqual(['charge payment', 'save Compensating', 'release stock', 'save Cancelled']);
    expect(decided).toEqual(['Compensating payment declined']);
  });

  it('refunds and releases, in this order, when the charge had no clear answer', async () => {
    const { did, stored } = await driveToEnd(chargeUnknown);
    expect(did.slice(3)).toEqual([
      'save Compensating',
      'refund payment',
      'save Compensating',
      'release stock',
      'save Cancelled',
    ]);
    expect(stored).toMatchObject({ reason: 'payment unavailable', pending: [], lastError: null });
  });

  it('releases what may have been reserved when stock had no clear answer', async () => {
    const { did } = await driveToEnd(reserveUnknown);
    expect(did).toEqual(['reserve stock', 'save Compensating', 'release stock', 'save Cancelled']);
  });

  it('compensates nothing when the stock is insufficient', async () => {
    const { did, decided } = await driveToEnd(outOfStock);
    expect(did).toEqual(['reserve stock', 'save Cancelled']);
    expect(decided).toEqual(['Cancelled out of stock']);
  });

  it.each(['Confirmed', 'Cancelled'] as const)('does nothing in %s', async (state) => {
    const { did, decided } = await driveToEnd({}, aSaga({ state }));
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
    const { stored, decided } = await driveToEnd({ ...script, crashAt: new Set([boundary]) });
    expect(stored).toMatchObject({ state, reason, pending: [] });
    expect(decided.length).toBeLessThanOrEqual(1);
  });

  it(`at every boundary in turn ends ${state}`, async () => {
    const { stored, drives } = await driveToEnd({ ...script, crashAt: new Set(BOUNDARIES) });
    expect(stored).toMatchObject({ state, reason, pending: [] });
    expect(drives).toBeGreaterThan(2);
  });
});

describe('after a crash', () => {
  it.each([
    ['stock-reserved:unsaved', 'reserve stock', 2],
    ['stock-reserved:saved', 'reserve stock', 1],
    ['payment-charged:unsaved', 'charge payment', 2],
    ['payment-charged:saved', 'charge payment', 1],
  ] as const)('at %s %s is run %i time(s)', async (boundary, step, times) => {
    const { did } = await driveToEnd({ crashAt: new Set<FailpointName<'orders'>>([boundary]) });
    expect(did.filter((name) => name === step)).toHaveLength(times);
  });

  it('at order-confirmed:unsaved nothing is confirmed until recovery does it', async () => {
    const world = scriptedPorts(aSaga({ state: 'PaymentCharged' }), {
      crashAt: new Set<FailpointName<'orders'>>(['order-confirmed:unsaved']),
    });
    await expect(drive(world.stored, world.ports)).rejects.toThrow(Crash);
    expect(world.stored.state).toBe('PaymentCharged');
    expect(world.decided).toEqual([]);
  });

  it('at step-compensated:unsaved a compensation whose success was not saved is repeated', async () => {
    const { did } = await driveToEnd({
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
    const result = await drive(world.stored, world.ports);
    expect(result.kind).toBe('waiting');
    expect(world.stored).toMatchObject({
      state: 'Compensating',
      pending: ['refund payment'],
      attempts: 1,
      lastError: 'refund payment: unavailable',
    });
  });

  it('is tried again until it succeeds, the others are not', async () => {
    const { did, drives } = await driveToEnd({ failures: { 'refund payment': 3 } }, compensating);
    expect(drives).toBe(4);
    expect(did.filter((name) => name.startsWith('refund'))).toHaveLength(4);
    expect(did.filter((name) => name === 'release stock')).toHaveLength(1);
  });

  it('tells no status again', async () => {
    const { decided } = await driveToEnd({ failures: { 'release stock': 2 } }, compensating);
    expect(decided).toEqual([]);
  });
});

describe('a saga that belongs to another driver', () => {
  it.each([
    [1, {}, ['reserve stock']],
    [2, {}, ['reserve stock', 'save StockReserved', 'charge payment']],
    [3, {}, ['reserve stock', 'save StockReserved', 'charge payment', 'save PaymentCharged']],
    [
      3,
      chargeUnknown,
      ['reserve stock', 'save StockReserved', 'charge payment', 'save Compensating', 'refund payment'],
    ],
  ])('is left alone when save %i is refused', async (lostFromSave, script: Script, expected) => {
    const world = scriptedPorts(aSaga(), { ...script, lostFromSave });
    const { kind } = await drive(world.stored, world.ports);
    expect(kind).toBe('lost');
    expect(world.did).toEqual(expected);
  });

  it('is not told as decided', async () => {
    const world = scriptedPorts(aSaga(), { ...declined, lostFromSave: 2 });
    await drive(world.stored, world.ports);
    expect(world.decided).toEqual([]);
  });

  it('is left alone when the round of compensation cannot be noted', async () => {
    const start = aSaga({ state: 'Compensating', reason: 'stock unavailable', pending: ['release stock'] });
    const world = scriptedPorts(start, { failures: { 'release stock': 1 }, lostFromSave: 1 });
    expect(await drive(world.stored, world.ports)).toEqual({ kind: 'lost', saga: start });
  });
});

describe('a save that fails', () => {
  it.each([1, 2, 3])(
    'number %i ends the drive with the error, and recovery goes on from the row',
    async (failingSave) => {
      const world = scriptedPorts(aSaga(), { failingSave });
      await expect(drive(world.stored, world.ports)).rejects.toThrow('no answer from the database');
      expect(world.decided).toEqual([]);
      expect(await drive(world.stored, world.ports)).toMatchObject({ kind: 'ended', saga: { state: 'Confirmed' } });
    },
  );
});
