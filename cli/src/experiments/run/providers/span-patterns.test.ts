import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../../platform/project.ts';
import { createFakeClock } from '../../../shared/testing/fake-clock.ts';
import { serviceNames } from '../../../topology/services.ts';
import { expectedTree, loadContract } from '../../../trace/contract.ts';
import { spansOf } from '../../../trace/synthetic-trace.ts';
import type { TraceProbe, TraceTolerance } from '../../format/schema.ts';
import { aPoint, createFakeContext, type FakeContext } from '../testing/fake-context.ts';
import { checkSpans } from './span-patterns.ts';

const confirmed = spansOf(expectedTree(await loadContract('confirmed', cloneRoot())));
/** Nothing of payments: as of an order that was not charged. */
const uncharged = confirmed.filter(({ service, name }) => service !== 'payments' && name !== 'charge payment');

const noCharge = { 'has-not': [{ name: 'charge payment', service: 'orders' }] };

/** What every process says became of its spans; those of one service otherwise. */
function accounts(service?: string, more: Record<string, number> = {}, point: object = {}) {
  return serviceNames.flatMap((name) => {
    const counts = { started: 9, ended: 9, exported: 9, dropped: 0, ...(name === service && more) };
    return Object.entries(counts).map(([state, count]) =>
      aPoint('shop.telemetry.spans', count, {
        type: 'counter',
        service: name,
        instance: `${name}-1`,
        attributes: { state },
        ...(name === service && point),
      }),
    );
  });
}

function checked(tolerance: TraceTolerance, fake: FakeContext, clock = createFakeClock()) {
  const { context } = createFakeContext({ points: () => accounts(), ...fake }, clock);
  return checkSpans('a'.repeat(32), { within: 5_000, tolerance } as unknown as TraceProbe, context);
}

describe('what must not be in a trace', () => {
  it('is not in it when every process has sent all its spans', async () => {
    expect(await checked(noCharge, { trace: () => ({ spans: uncharged }) })).toMatchObject({ verdict: 'pass' });
  });

  it('fails when it comes a moment later', async () => {
    const clock = createFakeClock();
    const trace = () => ({ spans: clock.now() < 600 ? uncharged : confirmed });
    expect(await checked(noCharge, { trace }, clock)).toMatchObject({ verdict: 'fail' });
  });

  it.each<[string, FakeContext]>([
    ['the store does not have the trace', { trace: () => ({ spans: [] }) }],
    ['the store could not keep all of it', { trace: () => ({ spans: uncharged, incomplete: 'too large' }) }],
    ['spans were dropped', { points: () => accounts('orders', { exported: 8, dropped: 1 }) }],
    ['spans are still to be sent', { points: () => accounts('orders', { exported: 8 }) }],
    ['spans have not ended', { points: () => accounts('orders', { ended: 8, exported: 8 }) }],
    ['the process is gone', { points: () => accounts('orders', {}, { stale: true }) }],
  ])('is unknown when %s', async (_, fake) => {
    expect(await checked(noCharge, { trace: () => ({ spans: uncharged }), ...fake })).toMatchObject({
      verdict: 'unknown',
    });
    const counted = { has: [{ name: 'charge payment', service: 'orders', count: { lte: 1 } }] };
    expect(await checked(counted, { trace: () => ({ spans: uncharged }), ...fake })).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('is unknown when its service has never reported', async () => {
    const payment = { 'has-not': [{ name: 'POST /payments', service: 'payments' }] };
    const trace = () => ({ spans: uncharged });
    expect(await checked(payment, { trace, points: () => [] })).toMatchObject({ verdict: 'unknown' });
  });

  it('is decided by the service it would be of', async () => {
    const points = () => accounts('shipping', { exported: 8, dropped: 1 });
    expect(await checked(noCharge, { trace: () => ({ spans: uncharged }), points })).toMatchObject({ verdict: 'pass' });
  });

  it('waits for the report that decides', async () => {
    const clock = createFakeClock();
    const points = () => accounts('orders', { exported: clock.now() < 6_000 ? 8 : 9 });
    expect(await checked(noCharge, { trace: () => ({ spans: uncharged }), points }, clock)).toMatchObject({
      verdict: 'pass',
    });
  });
});

describe('what must be in a trace', () => {
  const charge = { has: [{ name: 'charge payment', service: 'orders', count: 1 }] };

  const whole = { trace: () => ({ spans: confirmed }) };

  it('is seen, whatever else was lost, where more would be as good', async () => {
    const points = () => accounts('orders', { exported: 8, dropped: 1 });
    const some = { has: [{ name: 'charge payment', service: 'orders' }] };
    expect(await checked(some, { ...whole, points })).toMatchObject({ verdict: 'pass' });
  });

  it.each<[string, TraceTolerance]>([
    ['exactly one', charge],
    ['one or two', { has: [{ name: 'charge payment', service: 'orders', count: { range: [1, 2] } }] }],
    ['exactly 31', { spans: 31 }],
    ['other than two', { has: [{ name: 'charge payment', count: { ne: 2 } }] }],
  ])('is %s only when no span can have been lost', async (_, tolerance) => {
    expect(await checked(tolerance, whole)).toMatchObject({ verdict: 'pass' });
    const dropped = () => accounts('orders', { exported: 8, dropped: 1 });
    expect(await checked(tolerance, { ...whole, points: dropped })).toMatchObject({ verdict: 'unknown' });
    const gone = () => accounts('orders', {}, { stale: true });
    expect(await checked(tolerance, { ...whole, points: gone })).toMatchObject({ verdict: 'unknown' });
  });

  it('is all six services, whatever was lost: there are no more', async () => {
    const points = () => accounts('orders', { exported: 8, dropped: 1 });
    expect(await checked({ services: 6 }, { ...whole, points })).toMatchObject({ verdict: 'pass' });
  });

  it('fails when there are too many, whatever was lost', async () => {
    const points = () => accounts('orders', { exported: 8, dropped: 1 });
    const none = { has: [{ name: 'charge payment', count: { lte: 0 } }] };
    expect(await checked(none, { ...whole, points })).toMatchObject({ verdict: 'fail' });
  });

  it('fails when it was never created, and is unknown when it may have been lost', async () => {
    const trace = () => ({ spans: uncharged });
    expect(await checked(charge, { trace })).toMatchObject({ verdict: 'fail' });
    const ofOrders = () => accounts('orders', { exported: 8, dropped: 1 });
    expect(await checked(charge, { trace, points: ofOrders })).toMatchObject({ verdict: 'unknown' });
    const ofOthers = () => accounts('stock', { exported: 8, dropped: 1 });
    expect(await checked(charge, { trace, points: ofOthers })).toMatchObject({ verdict: 'fail' });
    const anybody = { has: [{ name: 'charge payment', count: 1 }] };
    expect(await checked(anybody, { trace, points: () => [] })).toMatchObject({ verdict: 'unknown' });
  });
});
