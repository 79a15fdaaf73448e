import { describe, expect, it } from 'vitest';
import { parseSummary, readSummary } from './k6-summary.ts';

/** In the form in which k6 2.2 gives it to `handleSummary`. */
const summary = {
  state: { testRunDurationMs: 4001.4 },
  metrics: {
    'order_duration{phase:whole}': {
      type: 'trend',
      contains: 'time',
      values: { avg: 20, 'p(95)': 214.34, 'p(99)': 3_500 },
      thresholds: { 'p(95)<1000': { ok: true }, 'p(99)<3000': { ok: false } },
    },
    'order_expected{phase:whole}': {
      type: 'rate',
      contains: 'default',
      values: { rate: 0.995, passes: 199, fails: 1 },
      thresholds: { 'rate>=0.99': { ok: true } },
    },
    dropped_iterations: { type: 'counter', contains: 'default', values: { count: 3, rate: 0.1 } },
    'dropped_iterations{scenario:whole}': {
      type: 'counter',
      contains: 'default',
      values: { count: 3, rate: 0.1 },
      thresholds: { 'count<=2': { ok: false } },
    },
    vus_max: { type: 'gauge', contains: 'default', values: { value: 4, min: 4, max: 12 } },
  },
};

describe('the summary of k6', () => {
  it('says what became of each threshold and what was measured', () => {
    expect(parseSummary(JSON.stringify(summary))).toEqual({
      thresholds: [
        { metric: 'order_duration{phase:whole}', condition: 'p(95)<1000', isMet: true, observed: '214.3 ms' },
        { metric: 'order_duration{phase:whole}', condition: 'p(99)<3000', isMet: false, observed: '3500 ms' },
        {
          metric: 'order_expected{phase:whole}',
          condition: 'rate>=0.99',
          isMet: true,
          observed: '99.50 % (199 of 200)',
        },
        { metric: 'dropped_iterations{scenario:whole}', condition: 'count<=2', isMet: false, observed: '3' },
      ],
      dropped: 3,
      vusMax: 12,
    });
  });

  it('is not guessed when it does not say what became of a threshold', () => {
    const metrics = { order_duration: { thresholds: { 'p(95)<1': {} } } };
    expect(() => parseSummary(JSON.stringify({ metrics }))).toThrow(
      'does not say what became of order_duration p(95)<1',
    );
    expect(() => parseSummary('{}')).toThrow('no metrics');
  });

  it('that was never written is a reason, not an error', async () => {
    expect(await readSummary('/nowhere/summary.json')).toContain('ENOENT');
  });
});
