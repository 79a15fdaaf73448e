import { context, defaultTextMapGetter, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { distrust, isDecidedHere } from '@shop/kit/telemetry/sampling-decision.ts';
import { describe, expect, it } from 'vitest';
import { createPropagator } from './propagator.ts';

const propagator = createPropagator();
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const headersOf = () => ({ traceparent: `00-${TRACE_ID}-b7ad6b7169203331-00`, tracestate: 'a=b', baggage: 'secret=1' });
const extracted = (headers: object) => propagator.extract(context.active(), headers, defaultTextMapGetter);

describe('the trace context of a caller', () => {
  it('is taken whole from a service', () => {
    const from = extracted(headersOf());
    const span = trace.getSpanContext(from);
    expect([span?.traceId, span?.traceState?.serialize()]).toEqual([TRACE_ID, 'a=b']);
    expect(propagation.getBaggage(from)?.getEntry('secret')?.value).toBe('1');
    expect(isDecidedHere(from)).toBe(false);
  });

  it('is the trace id and the parent alone from an untrusted client, whose sampled flag does not bind', () => {
    const headers = headersOf();
    distrust(headers);
    const from = extracted(headers);
    const span = trace.getSpanContext(from);
    expect([span?.traceId, span?.traceState]).toEqual([TRACE_ID, undefined]);
    expect(propagation.getBaggage(from)).toBeUndefined();
    expect(isDecidedHere(from)).toBe(true);
  });

  it('is nothing where an untrusted client has none', () => {
    const headers = {};
    distrust(headers);
    expect(trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter))).toBeUndefined();
  });
});
