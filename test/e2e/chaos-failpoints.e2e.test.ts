/*
 * Goal: a response that is lost, forced or late at a failpoint is what a client, a caller or a relay would meet in
 * production. Each is counted, and a seeded bug is found by the audit.
 * Method: a real platform; one order per failpoint; the ledger, the audit and `chaos coverage` show the result.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { recoverFrom } from './support/chaos.ts';
import { place } from './support/client.ts';
import { COSTLY_POLL_MS, eventually } from './support/eventually.ts';
import { findImbalances, readLedger, untilDrained } from './support/ledger.ts';

const env = { SHOPCTL_FAILPOINTS: '1' };

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-failpoints', env });
});
afterAll(() => platform?.stop());
afterEach(({ task }) => recoverFrom(task, platform));

async function inject(service: string, ...options: string[]): Promise<void> {
  const { code, stderr } = await platform.shopctl('chaos', 'inject', service, 'failpoint', ...options);
  expect(code, stderr).toBe(0);
}

/** Every failpoint injected has acted; then all are reverted. */
async function expectSeen(): Promise<void> {
  await eventually('the failpoint to act', { withinMs: 10_000, everyMs: COSTLY_POLL_MS }, async () => {
    const { faults } = JSON.parse((await platform.shopctl('chaos', 'status', '--json')).stdout);
    return faults.every(({ witness }: { witness: { verdict: string } }) => witness.verdict === 'observed');
  });
  expect(await platform.shopctl('chaos', 'clear', '--all')).toMatchObject({ code: 0 });
}

async function expectConfirmedOnce(orderId: string): Promise<void> {
  await untilDrained(platform);
  expect(await readLedger(platform, orderId)).toMatchObject({
    order: { status: 'Confirmed', open: false },
    outbox: [{ published: true }],
    reservations: [{ state: 'reserved' }],
    payments: [{ state: 'accepted', amount: 45_000 }],
    inbox: [{}],
    shipments: [{}],
  });
}

describe('a response that is lost', () => {
  it.each([
    ['payments', 'charge-decided:response-unsent', 'HTTP'],
    ['stock', 'reservation-decided:response-unsent', 'gRPC'],
    ['stock', 'transaction-committed:unacknowledged', 'COMMIT'],
    ['orders', 'order-confirmed:unacknowledged', 'COMMIT'],
    ['orders', 'event-confirmed:unmarked', 'the confirm of a publish'],
    ['shipping', 'transaction-committed:unacknowledged', 'COMMIT'],
    ['catalog', 'product-read:response-unsent', 'HTTP'],
  ])('at %s.%s (%s): the order is Confirmed, once', async (service, at) => {
    await inject(service, '--at', at, '--action', 'drop-reply');
    const { status, body } = await place(platform);
    expect(status, JSON.stringify(body)).toBe(201);
    await expectSeen();
    await expectConfirmedOnce(body?.id as string);
  });

  it('to the client: the same key has the same order', async () => {
    const key = randomUUID();
    await inject('gateway', '--at', 'response-received:unforwarded', '--action', 'drop-reply');
    await expect(place(platform, { key })).rejects.toThrow();
    await expectSeen();
    const again = await place(platform, { key });
    expect(again.status).toBe(201);
    await expectConfirmedOnce(again.body?.id as string);
  });
});

describe('payments that respond 503', () => {
  it('to every third charge: every order is Confirmed', async () => {
    await inject(
      'payments',
      '--at',
      'charge-requested:unrecorded',
      '--action',
      'respond',
      '--status',
      '503',
      '--every',
      '3',
    );
    for (let order = 1; order <= 4; order += 1) expect(await place(platform)).toMatchObject({ status: 201 });
    await expectSeen();
  });

  it('to every charge: the order is Cancelled, and nothing is kept', async () => {
    await inject(
      'payments',
      '--at',
      'charge-requested:unrecorded',
      '--action',
      'respond',
      '--status',
      '503',
      '--every',
      '1',
    );
    expect(await place(platform)).toMatchObject({
      status: 200,
      body: { status: 'Cancelled', reason: 'payment unavailable' },
    });
    await expectSeen();
    await untilDrained(platform);
    expect(await findImbalances(platform)).toEqual([]);
  });
});

describe('chaos coverage', () => {
  const coverage = async (...options: string[]) => {
    const { code, stdout } = await platform.shopctl('chaos', 'coverage', '--require', 'all', '--json', ...options);
    return { code, ...JSON.parse(stdout) };
  };

  it('has counted every failpoint, what acted, and knows where each is', async () => {
    const { code, failpoints, missing } = await coverage('--reset');
    expect([code, missing]).toEqual([0, []]);
    expect(failpoints).toContainEqual(
      expect.objectContaining({ failpoint: 'payments.charge-decided:response-unsent', acted: 1 }),
    );
    expect(failpoints.filter(({ places }: { places: string[] }) => places.length === 0)).toEqual([]);
  });

  it('fails after its counts began again', async () => {
    const { code, missing } = await coverage();
    expect(code).toBe(1);
    expect(missing).toContain('payments.charge-decided:response-unsent');
  });
});

describe('a seeded bug', () => {
  it('is said by up, status and audit, and found by the audit', async () => {
    const up = await platform.shopctl('up', '--no-build', '--seed-bug', 'no-idempotency-key');
    expect(up, up.stderr).toMatchObject({ code: 0 });
    expect(up.stderr).toContain('SEEDED BUG: no-idempotency-key');
    expect((await platform.shopctl('status')).stdout).toContain('SEEDED BUG: no-idempotency-key');
    await inject('payments', '--at', 'charge-decided:response-unsent', '--action', 'drop-reply');
    expect(await place(platform)).toMatchObject({ status: 201 });
    await expectSeen();
    await untilDrained(platform);
    const { code, stdout } = await platform.shopctl('audit', '--json');
    const { seededBugs, invariants } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(seededBugs).toEqual(['no-idempotency-key']);
    const violated = invariants.filter(({ verdict }: { verdict: string }) => verdict === 'fail');
    expect(violated.map(({ id }: { id: string }) => id)).toEqual(['I4']);
  });

  it('is gone after an up without it', async () => {
    expect(await platform.shopctl('up', '--no-build')).toMatchObject({ code: 0 });
    expect((await platform.shopctl('status')).stdout).not.toContain('SEEDED BUG');
  });
});
