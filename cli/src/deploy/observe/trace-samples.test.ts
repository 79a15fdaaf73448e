import { expect, it } from 'vitest';
import type { Verdict } from '../../shared/verdict.ts';
import type { TraceSpan } from '../../trace/tree.ts';
import { createTraceGuard, type SampledOrder } from './trace-samples.ts';

const span = (changes: Partial<TraceSpan>): TraceSpan =>
  ({
    spanId: 'a',
    parentSpanId: 'root',
    service: 'orders',
    instance: 'orders-1',
    kind: 'internal',
    error: false,
    ...changes,
  }) as TraceSpan;

const orderOf = (instance: string, { error = false } = {}) => [
  span({
    spanId: 'root',
    name: 'POST /api/v2/orders/{**rest}',
    parentSpanId: undefined,
    service: 'gateway',
    kind: 'server',
  }),
  span({ spanId: 'request', name: 'POST /orders', kind: 'server', instance }),
  span({ spanId: 'price', parentSpanId: 'request', name: 'GET', kind: 'client', instance }),
  span({ spanId: 'saga', name: 'order saga', instance, error }),
];

/** Looks at these traces, whose verdicts are given by instance, and reads. */
async function read(traces: readonly (readonly TraceSpan[])[], verdicts: Readonly<Record<string, Verdict>>) {
  const checked: SampledOrder[] = [];
  const guard = createTraceGuard({
    service: 'orders',
    newest: async () => traces.map((_, index) => String(index)),
    spans: async (id) => traces[Number(id)] ?? [],
    async check(order) {
      checked.push(order);
      return { verdict: verdicts[order.arm] ?? 'pass', explanation: '32 spans in place of 31' };
    },
  });
  let reading = guard.read(['orders-3'], 0);
  for (let look = 1; look < 8; look += 1) {
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    reading = guard.read(['orders-3'], look * 10_000);
  }
  guard.stop();
  return { reading, checked };
}

const mixed = [orderOf('orders-3'), orderOf('orders-1'), orderOf('orders-3'), orderOf('orders-2')];

it('traces of both arms are compared with the contract, each once', async () => {
  const { reading, checked } = await read(mixed, {});
  expect(reading.state).toBe('held');
  expect(checked.map(({ arm, traceId }) => `${arm} ${traceId}`).toSorted()).toEqual([
    'canary 0',
    'canary 2',
    'stable 1',
    'stable 3',
  ]);
  expect(checked[0]).toMatchObject({ distinctProducts: 1, root: 'POST /api/v2/orders/{**rest}' });
});

it.each([
  ['two of the canary trip it', mixed, { canary: 'fail' }, 'tripped'],
  ['one does not', mixed.slice(0, 2), { canary: 'fail' }, 'held'],
  ['none trips it while those of the stable arm are wrong, too', mixed, { canary: 'fail', stable: 'fail' }, 'held'],
  ['those that are not whole prove nothing', mixed, { canary: 'unknown' }, 'held'],
  ['cancelled orders have another contract', [orderOf('orders-3', { error: true })], { canary: 'fail' }, 'held'],
] as const)('wrong traces: %s', async (_what, traces, verdicts, state) => {
  expect((await read(traces, verdicts)).reading.state).toBe(state);
});

it('traces that cannot be read for a minute are unknown', async () => {
  const guard = createTraceGuard({
    service: 'orders',
    newest: () => Promise.reject(new Error('telemetry is off')),
    spans: async () => [],
    check: async () => ({ verdict: 'pass', explanation: '' }),
  });
  expect(guard.read(['orders-3'], 0).state).toBe('held');
  await new Promise(setImmediate);
  expect(guard.read(['orders-3'], 61_000)).toMatchObject({
    state: 'unknown',
    detail: 'traces cannot be read: telemetry is off',
  });
});
