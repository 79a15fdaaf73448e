import { describe, expect, it } from 'vitest';
import { fileWith, readText } from '../format/testing.ts';
import { estimateMs } from './estimate.ts';

function estimateOf(method: string): number {
  const { experiment, problems } = readText(fileWith({ method }));
  if (experiment === undefined) throw new Error(JSON.stringify(problems));
  return estimateMs(experiment);
}

const ORDER = '- {name: an order, type: probe, provider: {type: orders}, tolerance: {each: {response: Confirmed}}';

describe('the estimated time of an experiment', () => {
  it('grows by all of a hold and of a load with an end', () => {
    const short = estimateOf('- {name: wait, type: hold, for: 1s}');
    expect(estimateOf('- {name: wait, type: hold, for: 61s}') - short).toBe(60_000);
    expect(estimateOf('- {name: load, type: action, provider: {type: load, rate: 1/s, for: 61s}}') - short).toBe(
      60_000,
    );
  });

  it('grows by less than the limit of a probe', () => {
    const without = estimateOf(`${ORDER}}`);
    const limited = estimateOf(`${ORDER}, within: 20s}`);
    expect(limited).toBeGreaterThan(without);
    expect(limited).toBeLessThan(without + 20_000);
  });
});
