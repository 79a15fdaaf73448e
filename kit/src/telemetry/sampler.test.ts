import { diag } from '@opentelemetry/api';
import { expect, it, vi } from 'vitest';
import { samplerOf } from './sampler.ts';

it.each([
  ['always_on', undefined, 'AlwaysOnSampler'],
  ['always_off', undefined, 'AlwaysOffSampler'],
  ['traceidratio', '0.25', 'TraceIdRatioBased{0.25}'],
  ['traceidratio', undefined, 'TraceIdRatioBased{1}'],
  ['parentbased_always_on', undefined, 'ParentBased{root=AlwaysOnSampler, '],
  ['parentbased_traceidratio', '0.5', 'ParentBased{root=TraceIdRatioBased{0.5}, '],
])('%s with the argument %s is %s', (name, argument, description) => {
  const sampler = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
  expect(sampler?.toString()).toContain(description);
});

it.each([undefined, ''])('%j leaves it to the SDK', (name) => {
  expect(samplerOf({ OTEL_TRACES_SAMPLER: name })).toBeUndefined();
});

it.each([
  [{ OTEL_TRACES_SAMPLER: 'half' }, 'OTEL_TRACES_SAMPLER=half is not known'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG=2 is not between'],
])('%j is told, and takes nothing away', (env, message) => {
  const told = vi.spyOn(diag, 'error');
  const sampler = samplerOf(env);
  expect(told).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(message));
  expect(sampler === undefined || sampler.toString() === 'TraceIdRatioBased{1}').toBe(true);
  told.mockRestore();
});
