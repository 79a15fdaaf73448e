import type { Database } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { CallUnavailableError } from '@shop/kit/resilience.ts';
import { describe, expect, it } from 'vitest';
import { createDriver } from './driver.ts';
import type { OrderMetrics } from './metrics.ts';
import type { RunningState, Saga } from './saga/saga.ts';

/*
 * Goal: a call that surely was not sent leaves nothing to take back; one that an earlier drive may have sent does,
 * whatever this drive knows of its own call.
 */

function sagaAt(state: RunningState): Saga {
  const none = { reason: null, pending: [], attempts: 0, lastError: null };
  return { orderId: 'order-1', lines: [], totalKopiykas: 1, currency: 'UAH', state, version: 1, ...none };
}

/** Drives a saga with a stock and a payments that answer so. Resolves with what was asked of them. */
async function driveWith(
  saga: Saga,
  { resumed, reserve = 'reserved', charge }: { resumed: boolean; reserve?: 'reserved' | Error; charge: Error },
) {
  const asked: string[] = [];
  const answer = async (call: string, result: unknown) => {
    asked.push(call);
    if (result instanceof Error) throw result;
    return result as never;
  };
  const driver = createDriver({
    database: { query: async () => ({ rows: [], count: 1 }) } as unknown as Database,
    owner: 'me',
    stock: {
      reserve: () => answer('reserve', reserve),
      release: () => answer('release', undefined),
      [Symbol.asyncDispose]: async () => undefined,
    },
    payments: { charge: () => answer('charge', charge), refund: () => answer('refund', undefined) },
    metrics: {} as OrderMetrics,
    gauges: { pendingEvents: undefined, compensating: undefined, driven: 0 },
    logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
    failpoint: async () => undefined,
    flags: { isOn: () => false },
    stopping: new AbortController().signal,
  });
  const told: (string | null)[] = [];
  const { kind } = await driver.drive(saga, {
    deadline: Deadline.after(9_000),
    resumed,
    decided: ({ reason }) => void told.push(reason),
  });
  return { asked, told, kind };
}

const neverSent = new CallUnavailableError('orders-payments', 'breaker_open', false);
const perhapsSent = new CallUnavailableError('orders-payments', 'breaker_open', true);

describe('a charge without an answer', () => {
  it('that was never sent is not refunded', async () => {
    expect(await driveWith(sagaAt('Started'), { resumed: false, charge: neverSent })).toEqual({
      asked: ['reserve', 'charge', 'release'],
      told: ['payment unavailable'],
      kind: 'ended',
    });
  });

  it('that may have been sent is refunded', async () => {
    const { asked } = await driveWith(sagaAt('Started'), { resumed: false, charge: perhapsSent });
    expect(asked).toEqual(['reserve', 'charge', 'refund', 'release']);
  });

  it('is refunded when an earlier drive may have sent it', async () => {
    const { asked } = await driveWith(sagaAt('StockReserved'), { resumed: true, charge: neverSent });
    expect(asked).toEqual(['charge', 'refund', 'release']);
  });

  it('is not refunded when the earlier drive had not come to it', async () => {
    const { asked } = await driveWith(sagaAt('Started'), { resumed: true, charge: neverSent });
    expect(asked).toEqual(['reserve', 'charge', 'release']);
  });
});

it('a reservation that was never sent ends the order at once', async () => {
  const reserve = new CallUnavailableError('orders-stock', 'bulkhead_full', false);
  expect(await driveWith(sagaAt('Started'), { resumed: false, reserve, charge: neverSent })).toEqual({
    asked: ['reserve'],
    told: ['stock unavailable'],
    kind: 'ended',
  });
});
