import { type Context, diag, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { describe, expect, it, vi } from 'vitest';
import { samplerOf } from './sampler.ts';
import { decideSamplingHere } from './sampling-decision.ts';

it.each([
  ['always_on', undefined, 'AlwaysOnSampler'],
  ['always_off', undefined, 'AlwaysOffSampler'],
  ['traceidratio', '0.25', 'TraceIdRatioBased{0.25}'],
  ['traceidratio', undefined, 'TraceIdRatioBased{1}'],
  ['parentbased_always_on', undefined, 'ParentBased{root=AlwaysOnSampler, '],
  ['parentbased_traceidratio', '0.5', 'ParentBased{root=TraceIdRatioBased{0.5}, '],
])('%s with the argument %s is %s', (name, argument, description) => {
  const sampler = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
  expect(sampler.toString()).toContain(description);
});

it.each([undefined, ''])('%j is the default of the SDK', (name) => {
  expect(samplerOf({ OTEL_TRACES_SAMPLER: name }).toString()).toContain('ParentBased{root=AlwaysOnSampler, ');
});

describe('below a remote parent', () => {
  // In the upper half: not among those that a ratio of 0.5 takes.
  const TRACE_ID = 'f'.repeat(8) + '0'.repeat(24);
  const parent = (traceFlags: number) =>
    trace.setSpanContext(ROOT_CONTEXT, { traceId: TRACE_ID, spanId: 'a'.repeat(16), traceFlags, isRemote: true });
  const decide = (name: string | undefined, context: Context) =>
    samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.5' }).shouldSample(
      context,
      TRACE_ID,
      'POST',
      SpanKind.SERVER,
      {},
      [],
    ).decision === SamplingDecision.RECORD_AND_SAMPLED;

  it('its flag decides', () => {
    expect([0, 1].map((flag) => decide(undefined, parent(flag)))).toEqual([false, true]);
  });

  it('the flag of an untrusted client does not: neither to hide a request, nor to have it recorded', () => {
    expect(decide(undefined, decideSamplingHere(parent(0)))).toBe(true);
    expect(decide('parentbased_traceidratio', parent(1))).toBe(true);
    expect(decide('parentbased_traceidratio', decideSamplingHere(parent(1)))).toBe(false);
  });

  it('the spans under the one that was decided follow it', () => {
    const local = trace.setSpanContext(decideSamplingHere(parent(0)), {
      traceId: TRACE_ID,
      spanId: 'b'.repeat(16),
      traceFlags: 1,
    });
    expect(decide('parentbased_always_off', local)).toBe(true);
  });
});

it.each([
  [{ OTEL_TRACES_SAMPLER: 'half' }, 'OTEL_TRACES_SAMPLER=half is not known'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG=2 is not between'],
])('%j is reported, and all is sampled', (env, message) => {
  const reported = vi.spyOn(diag, 'error');
  const sampler = samplerOf(env);
  expect(reported).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(message));
  expect(sampler.toString()).toMatch(/^(ParentBased\{root=AlwaysOnSampler, .*|TraceIdRatioBased\{1\})/);
  reported.mockRestore();
});
