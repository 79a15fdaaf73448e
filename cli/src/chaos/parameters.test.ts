import { describe, expect, it } from 'vitest';
import { durationMs, writeDuration } from '../shared/duration.ts';
import { findFault } from './catalog.ts';
import { checkParameters, readDurations, writeParameters } from './parameters.ts';
import type { Toxic } from './toxics.ts';
import { checkToxic } from './toxiproxy-client.ts';

const check = (fault: string, given: Record<string, unknown>) => {
  const { parameters } = findFault(fault);
  return checkParameters(parameters, readDurations(parameters, given), fault);
};

describe('parameters', () => {
  it.each([
    ['latency', { latency: '3s', jitter: '200ms' }, { latency: 3000, jitter: 200 }],
    ['latency', { latency: 1, stream: 'upstream', toxicity: 0.5 }, { latency: 1, stream: 'upstream', toxicity: 0.5 }],
    ['timeout', { timeout: '0ms' }, { timeout: 0 }],
    ['bandwidth', { rate: 10 }, { rate: 10 }],
    ['slicer', { averageSize: 64, delay: '10ms' }, { averageSize: 64, delay: 10 }],
    ['down', {}, {}],
  ])('%s takes %j', (fault, given, expected) => {
    expect(check(fault, given)).toEqual(expected);
  });

  it.each([
    ['latency', {}, 'latency is required'],
    ['latency', { latency: 0 }, 'latency must be >= 1, got 0'],
    ['latency', { latency: '3' }, 'latency must be integer, got "3"'],
    ['latency', { latncy: '3s' }, 'unknown parameter "latncy", did you mean "latency"?'],
    ['latency', { latency: 10, toxicity: 0 }, 'toxicity must be > 0, got 0'],
    ['latency', { latency: 10, toxicity: 1.1 }, 'toxicity must be <= 1, got 1.1'],
    ['latency', { latency: 10, stream: 'sideways' }, 'stream must'],
    ['bandwidth', { rate: 0 }, 'rate must be >= 1, got 0'],
    ['bandwidth', { rate: -1 }, 'rate must be >= 1, got -1'],
    ['timeout', {}, 'timeout is required'],
    ['limit_data', { bytes: 0 }, 'bytes must be >= 1, got 0'],
    ['down', { latency: 3 }, 'unknown parameter "latency"'],
    ['failpoint', { at: 'stock-reserved:unsaved', action: 'explode' }, 'action must'],
  ])('%s refuses %j: %s', (fault, given, problem) => {
    expect(() => check(fault, given)).toThrow(problem);
    expect(() => check(fault, given)).toThrow(expect.objectContaining({ code: 'invalid_fault' }));
  });

  it('reports an unknown name once, without the error of the schema', () => {
    expect(() => check('latency', { latency: 10, rate: 3 })).toThrow(/rate"$/);
  });

  it('writes them as people do', () => {
    expect(writeParameters(findFault('latency').parameters, { latency: 3000, jitter: 200, toxicity: 0.5 })).toBe(
      'latency 3s, jitter 200ms, toxicity 0.5',
    );
  });
});

describe('durations', () => {
  it.each([
    ['200ms', 200],
    ['3s', 3000],
    ['1.5s', 1500],
    ['1m', 60_000],
    ['2h', 7_200_000],
  ])('%s is %i ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['3', '', 's', '-1s', '3 s', '3sec'])('"%s" is none', (text) => {
    expect(durationMs(text)).toBeUndefined();
  });

  it.each([0, 200, 1500, 3000, 60_000, 7_200_000])('%i ms is read as it was written', (ms) => {
    expect(durationMs(writeDuration(ms))).toBe(ms);
  });

  it('is written in hours where it has whole ones', () => {
    expect([3_600_000, -7_200_000, 5_400_000].map(writeDuration)).toEqual(['1h', '-2h', '5400s']);
  });
});

describe('fault names', () => {
  it('are taken with dashes and underscores', () => {
    expect(findFault('slow-close')).toBe(findFault('slow_close'));
    expect(findFault('hold_connections')).toBe(findFault('hold-connections'));
  });

  it('are suggested when misspelt', () => {
    expect(() => findFault('latncy')).toThrow('unknown fault "latncy", did you mean "latency"?');
  });
});

describe('toxics', () => {
  it.each([0, -0.1, 1.01, Number.NaN])('a toxicity of %d is refused before anything is sent', (toxicity) => {
    const toxic: Toxic = { type: 'latency', name: 'x', stream: 'downstream', toxicity, attributes: { latency: 1 } };
    expect(() => checkToxic(toxic)).toThrow('toxicity');
  });
});
