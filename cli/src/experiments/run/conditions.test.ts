import { describe, expect, it } from 'vitest';
import type { PlatformEvent } from '../../platform/events.ts';
import type { EventCondition, ResolvedExperiment } from '../format/schema.ts';
import { checkConditions } from './conditions.ts';
import { aPoint, createFakeContext, type FakeContext } from './testing/fake-context.ts';

/*
 * Goal: what had to be reached and was not, and what cannot be counted, is never a pass. What must never happen fails
 * it, also where the file does not say it.
 */

const opened = (count: number) =>
  aPoint('shop.breaker.transitions', count, { attributes: { edge: 'orders-payments', to: 'open' } });
const open: EventCondition = { event: 'breaker.open', edge: 'orders-payments', 'at-least': 1 };

async function check(fake: FakeContext, conditions: Partial<Pick<ResolvedExperiment, 'reach' | 'never'>> = {}) {
  const { context } = createFakeContext(fake);
  return checkConditions({ reach: [], never: [], ...conditions } as unknown as ResolvedExperiment, context);
}

function anEvent(type: string, time: string): PlatformEvent {
  return { seq: 1, type, time, subject: 'toxiproxy', message: type };
}

describe('reach', () => {
  it('holds with the count since the start of the run', async () => {
    expect(await check({ points: () => [opened(1)] }, { reach: [open] })).toEqual([]);
  });

  it.each([
    ['never happened', () => [], '0 of 1'],
    ['cannot be read', () => new Error('no telemetry'), 'no telemetry'],
  ])('is unknown when it %s', async (_, points, observed) => {
    const reason = `breaker.open of orders-payments was not reached: ${observed}`;
    expect(await check({ points }, { reach: [open] })).toEqual([{ verdict: 'unknown', reason }]);
  });

  it('does not count what other edges did', async () => {
    const other = aPoint('shop.breaker.transitions', 3, { attributes: { edge: 'orders-stock', to: 'open' } });
    expect(await check({ points: () => [other] }, { reach: [open] })).toMatchObject([{ verdict: 'unknown' }]);
  });

  it('is unknown when the counters at the start were not read', async () => {
    const fake = { points: () => [opened(1)], start: { counters: undefined } };
    expect(await check(fake, { reach: [open] })).toMatchObject([{ verdict: 'unknown' }]);
  });
});

describe('a number of exits that is exact', () => {
  const twice: EventCondition = { event: 'process.exit', target: 'orders', exactly: 2, 'at-least': 1 };
  const exits = (count: number) =>
    Array.from({ length: count }, () => ({ subject: 'orders-1', message: 'exit 1', time: new Date(0).toISOString() }));

  it.each([
    [1, 'unknown', 'process.exit of orders was not reached: 1 of 2'],
    [3, 'fail', 'process.exit of orders happened too often: 3 of 2'],
  ])('of 2 is not %s: %s', async (count, verdict, reason) => {
    const fake = { exits: exits(count), targets: ['orders'] };
    expect(await check(fake, { reach: [twice] })).toEqual([{ verdict, reason }]);
  });

  it('of 2 is 2', async () => {
    expect(await check({ exits: exits(2), targets: ['orders'] }, { reach: [twice] })).toEqual([]);
  });
});

describe('never', () => {
  it('fails when it happened', async () => {
    expect(await check({ points: () => [opened(2)] }, { never: [open] })).toEqual([
      {
        verdict: 'fail',
        reason: 'breaker.open of orders-payments must never happen: 2 times (shop.breaker.transitions)',
      },
    ]);
  });

  it('is unknown when it cannot be counted', async () => {
    const points = () => new Error('no telemetry');
    expect(await check({ points }, { never: [open] })).toMatchObject([{ verdict: 'unknown' }]);
  });

  it('is unknown when the service that counts it has never reported', async () => {
    const duplicate: EventCondition = { event: 'duplicate', 'at-least': 1 };
    expect(await check({}, { never: [duplicate] })).toEqual([
      {
        verdict: 'unknown',
        reason:
          'duplicate must never happen: cannot be counted: shipping, which counts shop.shipping.messages, has never reported metrics',
      },
    ]);
    const shipping = aPoint('shop.telemetry.spans', 1, { service: 'shipping' });
    expect(await check({ points: () => [shipping] }, { never: [duplicate] })).toEqual([]);
  });

  it('is always that a process ends which no fault was aimed at', async () => {
    const exits = [{ subject: 'orders-1', message: 'signal SIGKILL', time: new Date(2_000).toISOString() }];
    expect(await check({ exits })).toMatchObject([
      { verdict: 'fail', reason: expect.stringContaining('orders-1: signal SIGKILL') },
    ]);
    expect(await check({ exits, targets: ['orders'] })).toEqual([]);
  });

  it('is the end of a process before its fault was asked for, or after it was reverted', async () => {
    const exits = [{ subject: 'orders-1', message: 'exit 1', time: new Date(2_000).toISOString() }];
    const fault = (from: number, until: number | undefined) => [{ target: 'orders', from, until }];
    expect(await check({ exits, targets: fault(1_000, 3_000) })).toEqual([]);
    expect(await check({ exits, targets: fault(1_000, 1_999) })).toMatchObject([{ verdict: 'fail' }]);
    expect(await check({ exits, targets: fault(2_001, undefined) })).toMatchObject([{ verdict: 'fail' }]);
  });

  it('is always that a client hangs, with a response in the end or without', async () => {
    expect(await check({ orders: [{ invokedAt: 0, tookMs: 12_000 }] })).toMatchObject([{ verdict: 'fail' }]);
    expect(await check({ orders: [{ invokedAt: -12_000 }] })).toMatchObject([{ verdict: 'fail' }]);
    expect(await check({ orders: [{ invokedAt: 0, tookMs: 11_999 }] })).toEqual([]);
  });
});

describe('an interrupted Toxiproxy', () => {
  const events = [anEvent('instance.starting', '2026-11-21T00:00:00Z')];

  it('makes the run unknown', async () => {
    expect(await check({ events })).toMatchObject([
      { verdict: 'unknown', reason: expect.stringContaining('Toxiproxy was interrupted under the run') },
    ]);
  });

  it('is not a finding when it was the fault', async () => {
    expect(await check({ events, targets: ['toxiproxy'] })).toEqual([]);
  });
});

it('a fault that others ended makes the run unknown', async () => {
  expect(await check({ cutShort: ['latency on orders-payments was ended by others (asked for)'] })).toEqual([
    {
      verdict: 'unknown',
      reason: 'latency on orders-payments was ended by others (asked for) in the middle of the run',
    },
  ]);
});
