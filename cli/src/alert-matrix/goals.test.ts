import { expect, it } from 'vitest';
import { findGoals, verdictOf, writeSeconds } from './goals.ts';
import type { MatrixMetrics } from './metrics.ts';

const none = { count: 0, p50: undefined, p95: undefined, max: undefined };
const metrics: MatrixMetrics = {
  recall: 1,
  hitPairs: 10,
  detectedPairs: 10,
  precision: 1,
  pages: 20,
  truePages: 20,
  missed: 0,
  detection: { count: 10, p50: 10, p95: 30, max: 31 },
  outageDetection: { count: 4, p50: 7, p95: 12, max: 12 },
  clear: { count: 10, p50: 20, p95: 40, max: 41 },
  slowClear: none,
  slowCleared: 0,
  measured: 20,
  planned: 20,
  unknownShare: 0.03,
};

it.each([
  ['all are reached', {}, 'pass'],
  ['recall is just below', { recall: 0.9699 }, 'fail'],
  ['precision is just below', { precision: 0.9699 }, 'fail'],
  ['a detection takes too long', { detection: { ...metrics.detection, p95: 30.1 } }, 'fail'],
  ['an outage is detected late', { outageDetection: { ...none, count: 1, p95: 12.1 } }, 'fail'],
  ['pages go on', { clear: { ...metrics.clear, p95: Number.POSITIVE_INFINITY } }, 'fail'],
  ['slow pages go on', { slowClear: { ...metrics.clear, p95: Number.POSITIVE_INFINITY } }, 'pass'],
  ['too much is unknown', { unknownShare: 0.031 }, 'unknown'],
  ['nothing was measured', { unknownShare: undefined, recall: undefined, precision: undefined }, 'unknown'],
  ['no fault hit a customer', { recall: undefined, detection: none, outageDetection: none }, 'pass'],
] as const)('where %s the verdict is as it must be', (_, change, verdict) => {
  expect(verdictOf(findGoals({ ...metrics, ...change }))).toBe(verdict);
});

it('a share that has not reached its goal is not shown as if it had', () => {
  expect(findGoals({ ...metrics, recall: 0.96999 })[0]).toMatchObject({ observed: '0.969', verdict: 'fail' });
});

it.each([
  [12.34, '12.3 s'],
  [Number.POSITIVE_INFINITY, 'not in time'],
  [undefined, '-'],
])('%s is written as %s', (value, text) => {
  expect(writeSeconds(value)).toBe(text);
});
