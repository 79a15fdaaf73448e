import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { TransientError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { type Charge, PAYMENT_LIMIT_KOPIYKAS } from './payment.ts';
import { createPayments, type Payments } from './payments.ts';
import { createPaymentStore } from './repository.ts';
import { chargingAgain } from './seeded-bugs/charged-twice.ts';
import { chargingEveryTime } from './seeded-bugs/no-idempotency-key.ts';

const logger = createLogger({ service: 'payments', instance: 'payments-test', level: 'silent' });
let database: Database;
let payments: Payments;

beforeAll(async () => {
  const { url } = await createDatabase('payments');
  database = openDatabase({ url, poolSize: 8, applicationName: 'payments-test', logger });
  payments = createPayments(createPaymentStore(database), async () => undefined);
}, START_TIMEOUT_MS);

afterAll(() => database[Symbol.asyncDispose]());

function aCharge(change: Partial<Charge> = {}): Charge {
  const orderId = randomUUID();
  return { orderId, idempotencyKey: `${orderId}:charge`, amount: 45_000, currency: 'UAH', ...change };
}

const refund = (charge: Charge) => payments.refund(charge.orderId, `${charge.orderId}:refund`);

const effectsOf = sql(
  'SELECT payment_effects: test',
  'SELECT kind, amount_kopiykas::int AS amount FROM payment_effects WHERE order_id = $1 ORDER BY seq',
);

/** What was done to the customer's money, `charge 45000`. */
async function effects({ orderId }: Charge): Promise<readonly string[]> {
  const { rows } = await database.query<{ kind: string; amount: number }>(effectsOf, [orderId]);
  return rows.map(({ kind, amount }) => `${kind} ${amount}`);
}

/** Payments whose process ends at a failpoint. */
const crashingAt = (place: string) =>
  createPayments(createPaymentStore(database), async (name) => {
    if (name === place) throw new TransientError(`killed at ${place}`);
  });

describe('a charge', () => {
  it('is accepted once; a repeat of its key gets the first result', async () => {
    const charge = aCharge();
    expect(await payments.charge(charge)).toEqual({ outcome: 'accepted', first: true });
    expect(await payments.charge(charge)).toEqual({ outcome: 'accepted', first: false });
  });

  it('is accepted at the limit and declined above it, repeats included', async () => {
    const above = aCharge({ amount: PAYMENT_LIMIT_KOPIYKAS + 1 });
    expect(await payments.charge(aCharge({ amount: PAYMENT_LIMIT_KOPIYKAS }))).toMatchObject({ outcome: 'accepted' });
    expect(await payments.charge(above)).toEqual({ outcome: 'declined', first: true });
    expect(await payments.charge(above)).toEqual({ outcome: 'declined', first: false });
  });

  it('is refused when its key was used with another amount or for another order', async () => {
    const charge = aCharge();
    await payments.charge(charge);
    expect(await payments.charge({ ...charge, amount: 1 })).toMatchObject({ outcome: 'key reused' });
    expect(await payments.charge({ ...charge, orderId: randomUUID() })).toMatchObject({ outcome: 'key reused' });
  });

  it('has one first result, however many concurrent calls carry its key', async () => {
    const charge = aCharge();
    const results = await Promise.all(Array.from({ length: 20 }, () => payments.charge(charge)));
    expect(results.filter((result) => result.outcome === 'accepted')).toHaveLength(20);
    expect(results.filter((result) => result.outcome === 'accepted' && result.first)).toHaveLength(1);
  });

  it('that lost its process before the outcome stays attempted until a repeat completes it', async () => {
    const charge = aCharge();
    await expect(crashingAt('charge-attempted:undecided').charge(charge)).rejects.toThrow('killed');
    expect(await payments.find(charge.orderId)).toMatchObject({ state: 'attempted' });
    expect(await payments.charge(charge)).toEqual({ outcome: 'accepted', first: true });
  });

  it('that lost its process after the outcome is a repeat when it comes again', async () => {
    const charge = aCharge();
    await expect(crashingAt('charge-decided:response-unsent').charge(charge)).rejects.toThrow('killed');
    expect(await payments.charge(charge)).toEqual({ outcome: 'accepted', first: false });
  });

  it('keeps an amount that is exact only as an integer', async () => {
    const charge = aCharge({ amount: Number.MAX_SAFE_INTEGER });
    await payments.charge(charge);
    expect(await payments.find(charge.orderId)).toMatchObject({ amount: Number.MAX_SAFE_INTEGER });
  });
});

describe('a refund', () => {
  it('accepted -> refunded, and a repeat changes nothing', async () => {
    const charge = aCharge();
    await payments.charge(charge);
    expect(await refund(charge)).toMatchObject({ state: 'refunded', amount: charge.amount });
    expect(await refund(charge)).toMatchObject({ state: 'refunded', amount: charge.amount });
    expect(await payments.charge(charge)).toEqual({ outcome: 'voided' });
  });

  it('declined -> declined: there is nothing to refund', async () => {
    const charge = aCharge({ amount: PAYMENT_LIMIT_KOPIYKAS + 1 });
    await payments.charge(charge);
    expect(await refund(charge)).toMatchObject({ state: 'declined' });
  });

  it('attempted -> voided, which no repeat of the charge can complete', async () => {
    const charge = aCharge();
    await expect(crashingAt('charge-attempted:undecided').charge(charge)).rejects.toThrow('killed');
    expect(await refund(charge)).toMatchObject({ state: 'voided' });
    expect(await payments.charge(charge)).toEqual({ outcome: 'voided' });
  });

  it('of an unknown order leaves a tombstone that refuses the late charge', async () => {
    const charge = aCharge();
    expect(await refund(charge)).toMatchObject({ state: 'voided', amount: undefined });
    expect(await refund(charge)).toMatchObject({ state: 'voided' });
    expect(await payments.charge(charge)).toEqual({ outcome: 'voided' });
    expect(await payments.find(charge.orderId)).toMatchObject({ state: 'voided', amount: undefined });
  });

  it('under the key of another order is refused', async () => {
    const [first, second] = [aCharge(), aCharge()];
    await refund(first);
    await payments.charge(second);
    expect(await payments.refund(randomUUID(), `${first.orderId}:refund`)).toBe('key reused');
    expect(await payments.refund(second.orderId, `${first.orderId}:refund`)).toBe('key reused');
    expect(await payments.find(second.orderId)).toMatchObject({ state: 'accepted' });
  });

  it('that races with its charge leaves no money taken, in either order', async () => {
    const charges = Array.from({ length: 60 }, () => aCharge());
    await Promise.all(charges.flatMap((charge) => [payments.charge(charge), refund(charge)]));
    const states = await Promise.all(charges.map(async ({ orderId }) => (await payments.find(orderId))?.state));
    expect(states.filter((state) => state !== 'refunded' && state !== 'voided')).toEqual([]);
  });
});

describe('what is done to the money', () => {
  it('is one charge, however many concurrent calls carry its key', async () => {
    const charge = aCharge();
    await Promise.all(Array.from({ length: 20 }, () => payments.charge(charge)));
    expect(await effects(charge)).toEqual(['charge 45000']);
  });

  it('is one refund after it, however many calls request it concurrently', async () => {
    const charge = aCharge();
    await payments.charge(charge);
    await Promise.all(Array.from({ length: 20 }, () => refund(charge)));
    expect(await effects(charge)).toEqual(['charge 45000', 'refund 45000']);
  });

  it('is nothing when the charge is declined, voided or left open', async () => {
    const [declined, open, unasked] = [aCharge({ amount: PAYMENT_LIMIT_KOPIYKAS + 1 }), aCharge(), aCharge()];
    await payments.charge(declined);
    await expect(crashingAt('charge-attempted:undecided').charge(open)).rejects.toThrow('killed');
    await Promise.all([refund(declined), refund(open), refund(unasked)]);
    expect(await Promise.all([declined, open, unasked].map(effects))).toEqual([[], [], []]);
  });

  it('is refunded when a charge and its refund race, in either order', async () => {
    const charges = Array.from({ length: 60 }, () => aCharge());
    await Promise.all(charges.flatMap((charge) => [payments.charge(charge), refund(charge)]));
    const done = new Set((await Promise.all(charges.map(effects))).map((one) => one.join(', ')));
    expect(done.difference(new Set(['', 'charge 45000, refund 45000']))).toEqual(new Set());
  });
});

describe('the seeded bug no-idempotency-key', () => {
  it('charges twice what is sent twice; without it once', async () => {
    const charge = aCharge();
    await payments.charge(charge);
    await payments.charge(charge);
    expect((await payments.find(charge.orderId))?.amount).toBe(charge.amount);

    const seeded = chargingEveryTime(payments, database);
    const again = aCharge();
    expect(await seeded.charge(again)).toEqual({ outcome: 'accepted', first: true });
    expect((await seeded.find(again.orderId))?.amount).toBe(again.amount);
    expect(await seeded.charge(again)).toEqual({ outcome: 'accepted', first: true });
    expect((await seeded.find(again.orderId))?.amount).toBe(2 * again.amount);
    expect(await effects(again)).toEqual(['charge 45000', 'charge 45000']);
  });
});

describe('the seeded bug charged-twice', () => {
  it('charges twice what is sent twice and writes it once', async () => {
    const seeded = chargingAgain(payments, database);
    const charge = aCharge();
    expect(await seeded.charge(charge)).toEqual({ outcome: 'accepted', first: true });
    expect(await effects(charge)).toEqual(['charge 45000']);
    expect(await seeded.charge(charge)).toEqual({ outcome: 'accepted', first: false });
    expect(await effects(charge)).toEqual(['charge 45000', 'charge 45000']);
    expect((await seeded.find(charge.orderId))?.amount).toBe(charge.amount);
  });
});
