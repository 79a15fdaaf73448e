import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import type { TraceSpan } from '../../trace/tree.ts';
import { timerClock } from '../testing/fake-shop.ts';
import type { PlacedOrder } from './customers.ts';
import { createExemplars } from './exemplars.ts';

const over = new AbortController();
let isStoreThere: boolean;
const create = () =>
  createExemplars({
    ports: {
      clock: timerClock,
      async trace(id) {
        if (!isStoreThere) throw new Error('no store');
        return [{ spanId: id, service: 'gateway', startNanos: 1_000_000n, endNanos: 21_000_000n } as TraceSpan];
      },
    },
    over: over.signal,
    elapsed: () => Math.round(performance.now()),
  });
const order = (
  traceId: string,
  outcome: PlacedOrder['outcome'],
  kind: PlacedOrder['kind'] = 'confirmed',
): PlacedOrder => ({
  kind,
  outcome,
  response: { kind: 'decided', id: traceId, status: 'Confirmed', reason: null, traceId } as PlaceResponse,
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  isStoreThere = true;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two orders before the failure, of which the first has settled, and what follows. */
async function collected(...during: readonly PlacedOrder[]) {
  const exemplars = create();
  await pass(1_000);
  exemplars.note(order('settled', 'good'));
  exemplars.note(order('declined', 'good', 'declined'));
  await pass(5_000);
  exemplars.note(order('fresh', 'good'));
  await exemplars.begin();
  await pass(5_000);
  for (const one of during) exemplars.note(one);
  const [kept] = await Promise.all([exemplars.collect(), pass(10_000)]);
  return kept.map(({ when, traceId }) => [when, traceId]);
}

it('keeps the newest order from before whose spans have arrived, and the first that failed', async () => {
  expect(await collected(order('served', 'good'), order('failed', 'failed'), order('later', 'failed'))).toEqual([
    ['before', 'settled'],
    ['during', 'failed'],
  ]);
});

it('keeps one that was served where none fails: what follows it may be missing', async () => {
  expect(await collected(order('served', 'good'))).toEqual([
    ['before', 'settled'],
    ['during', 'served'],
  ]);
});

it('keeps none where no trace can be read, and the round goes on', async () => {
  isStoreThere = false;
  expect(await collected(order('failed', 'failed'))).toEqual([]);
});
