import { expect, it } from 'vitest';
import { mutantsOf, mutationsOf } from './mutations.ts';

const of = (expr: string, numbers = true, windows: readonly string[] = []) =>
  mutationsOf(expr, { numbers, windows }).map((mutation) => mutation.expr);

it('changes each threshold, range, recorded window and operator alone', () => {
  expect(of('a > 20 and b')).toEqual(['a <= 20 and b', 'a > 40 and b', 'a > 10 and b', 'a > 20 or b']);
  expect(of('rate(a[10s]) == 0')).toEqual([
    'rate(a[20s]) == 0',
    'rate(a[5s]) == 0',
    'rate(a[10s]) != 0',
    'rate(a[10s]) == 1',
  ]);
  expect(of('a:rate1m', true, ['10s', '1m'])).toEqual(['a:rate10s']);
  expect(of('a{b!="c"} unless d')).toEqual(['a{b!="c"} and d']);
  expect(of('max_over_time(vector(1)[10s:1s])')).toEqual([
    'max_over_time(vector(1)[20s:1s])',
    'max_over_time(vector(1)[5s:1s])',
  ]);
  expect(of('20 * rate(b[1m])', false)).toEqual(['20 * rate(b[2m])', '20 * rate(b[30s])']);
});

it('leaves all other rules of the groups as they are', () => {
  const groups = [
    { name: 'slo-rate-1m', interval: '1s', rules: [{ record: 'slo:a', expr: 'b * 2' }] },
    { name: 'shop-page', interval: '1s', rules: [{ alert: 'A', expr: 'slo:a > 2' }] },
  ];
  const mutants = mutantsOf(groups, { rates: true });
  expect(mutants.map(({ what }) => what)).toEqual(['A: > -> <= at 6', 'A: 2 -> 4 at 8', 'A: 2 -> 1 at 8']);
  expect(mutants[1]?.groups).toEqual([groups[0], { ...groups[1], rules: [{ alert: 'A', expr: 'slo:a > 4' }] }]);
});
