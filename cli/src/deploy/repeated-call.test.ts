import { expect, it } from 'vitest';
import type { TraceSpan } from '../trace/tree.ts';
import { repeatedCall } from './repeated-call.ts';

const call = (changes: Partial<TraceSpan>): TraceSpan =>
  ({
    spanId: 'a',
    parentSpanId: 'step',
    service: 'orders',
    name: 'POST',
    kind: 'client',
    error: false,
    startNanos: 20n,
    endNanos: 30n,
    attributes: {},
    ...changes,
  }) as TraceSpan;

const failed = call({ error: true, startNanos: 0n, endNanos: 10n, attributes: { 'error.type': 'timeout' } });

it('a call that failed and was made again is found with its reason', () => {
  expect(repeatedCall([failed, call({})], 'orders')).toBe('POST of orders failed and was repeated: timeout');
});

it.each([
  ['a call that failed, and was not made again', [failed]],
  ['two calls that succeeded', [call({ startNanos: 0n, endNanos: 10n }), call({})]],
  ['a call of another step', [failed, call({ parentSpanId: 'other' })]],
  ['a call that was rejected', [{ ...failed, attributes: { 'http.response.status_code': 402 } }, call({})]],
  ['another call of the step', [failed, call({ name: 'GET' })]],
  ['a call that began before it had failed', [failed, call({ startNanos: 5n })]],
])('%s is none', (_title, spans) => {
  expect(repeatedCall(spans, 'orders')).toBeUndefined();
});

it('a call to the service that is deployed is its own failure', () => {
  const ofGateway = [failed, call({})].map((one) => ({ ...one, service: 'gateway' }));
  expect(repeatedCall(ofGateway, 'orders')).toBeUndefined();
  expect(repeatedCall([failed, call({})], 'payments')).toBeUndefined();
});
