import { describe, expect, it } from 'vitest';
import { type ReadResult, readSlo } from './read.ts';

const valid = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: orders
  displayName: Orders
spec:
  description: Orders are served.
  service: gateway
  indicator:
    metadata: { name: served }
    spec:
      ratioMetric:
        counter: true
        bad: { metricSource: { type: Prometheus, spec: { query: 'sum(rate(bad_total[{{.window}}]))' } } }
        total: { metricSource: { type: Prometheus, spec: { query: 'sum(rate(all_total[{{.window}}]))' } } }
  budgetingMethod: Occurrences
  timeWindow:
    - { duration: 30d, isRolling: true }
  objectives:
    - target: 0.99
    - { displayName: laptop, target: 0.9 }
  alertPolicies:
    - kind: AlertPolicy
      metadata: { name: OrdersBurn, annotations: { summary: it burns, impact: customers wait } }
      spec:
        conditions:
          - kind: AlertCondition
            metadata: { name: fast }
            spec:
              severity: page
              condition: { kind: burnrate, op: gt, threshold: 9, lookbackWindow: 1h, alertAfter: 5m }
`;

/** The valid file with some of its text replaced. */
function withChange(...changes: readonly (readonly [string | RegExp, string])[]): string {
  const text = changes.reduce((one, [from, to]) => one.replace(from, to), valid);
  if (text === valid) throw new Error('the change changes nothing');
  return text;
}

const problemsOf = (result: ReadResult) =>
  result.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);

describe('an SLO', () => {
  it('is read with its queries by window, its objectives by profile and its alerts', () => {
    const { slo } = readSlo(valid);
    expect(slo).toMatchObject({
      name: 'orders',
      counts: 'requests',
      window: '30d',
      objectives: { production: 0.99, laptop: 0.9 },
      alerts: [
        { name: 'OrdersBurn', burns: [{ name: 'fast', severity: 'page', threshold: 9, long: '1h', short: '5m' }] },
      ],
    });
    expect(slo?.bad('10s')).toBe('sum(rate(bad_total[10s]))');
    expect(slo?.total('1h')).toBe('sum(rate(all_total[1h]))');
  });

  it('that counts the good has the rest as bad, never less than none', () => {
    const { slo } = readSlo(withChange([/bad: \{ m/, 'good: { m'], ['bad_total', 'good_total']));
    expect(slo?.bad('1m')).toBe('clamp_min(sum(rate(all_total[1m])) - sum(rate(good_total[1m])), 0)');
  });

  it('has all its mistakes reported, in the order of the file, with line and column', () => {
    const text = withChange(
      ['apiVersion: openslo/v1', 'apiVersion: openslo/v2'],
      ['  service: gateway', '  servce: gateway'],
      ['target: 0.99', 'target: 99'],
      ['duration: 30d', 'duration: 30 days'],
      ['severity: page', 'severity: pages'],
    );
    expect(problemsOf(readSlo(text))).toEqual([
      '1:13 apiVersion: expected "openslo/v1", got "openslo/v2"',
      '7:3 spec: service is missing: a text (the service that keeps it)',
      '8:3 spec.servce: unknown key "servce", did you mean "service"?',
      expect.stringMatching(
        /^18:\d+ spec\.timeWindow\[0\]\.duration: expected a text \(how long a budget lasts\), got "30 days"$/,
      ),
      '20:15 spec.objectives[0].target: expected a share below 1, got 99: 0.99 for 99 %',
      expect.stringMatching(/^30:25 .*severity: expected one of page, ticket, got "pages", did you mean "page"\?$/),
    ]);
  });

  it.each<[string, readonly (readonly [string | RegExp, string])[], string]>([
    [
      'an objective of 100 %',
      [['target: 0.99', 'target: 1']],
      '20:15 spec.objectives[0].target: an objective of 100 % has no budget',
    ],
    [
      'no objective for a profile',
      [
        ['- target: 0.99\n', ''],
        ['    - { displayName: laptop', '    - { displayName: laptop'],
      ],
      'there is no objective for production',
    ],
    [
      'two objectives for a profile',
      [['- target: 0.99', '- { displayName: laptop, target: 0.99 }']],
      'there is an objective for laptop already',
    ],
    ['a window that is too short', [['alertAfter: 5m', 'alertAfter: 1m']], 'laptop has no window for 1m, did you mean'],
    [
      'a window that rates cannot have',
      [['alertAfter: 5m', 'alertAfter: 30s']],
      '30s is too short for production, which is scraped every 15s: the least is 75s',
    ],
    [
      'a short window that is the long one',
      [['alertAfter: 5m', 'alertAfter: 1h']],
      'expected less than lookbackWindow (1h), got 1h',
    ],
    [
      'a long window that is the time window',
      [['lookbackWindow: 1h', 'lookbackWindow: 30d']],
      'expected less than the time window (30d), got 30d',
    ],
    [
      'a threshold that no share reaches',
      [['threshold: 9', 'threshold: 10']],
      '10 times the budget is 100 % of all: it could never fire',
    ],
    [
      'good and bad',
      [
        [
          '        bad:',
          '        good: { metricSource: { type: Prometheus, spec: { query: "x[{{.window}}]" } } }\n        bad:',
        ],
      ],
      'good and bad are both there',
    ],
    ['neither good nor bad', [[/ {8}bad:.*\n/, '']], 'good or bad is missing'],
    [
      'a counter without a window',
      [['bad_total[{{.window}}]', 'bad_total[5m]']],
      'the query of a counter is a rate over [{{.window}}], which is missing',
    ],
    ['a gauge with a window', [['counter: true', 'counter: false']], 'the query of a gauge has no window'],
    [
      'a key that OpenSLO has and this project does not read',
      [['  service: gateway', '  service: gateway\n  indicatorRef: served']],
      'unknown key "indicatorRef", did you mean "indicator"?',
    ],
  ])('with %s is refused', (_, changes, message) => {
    const result = readSlo(withChange(...changes));
    expect(result.slo).toBeUndefined();
    expect(problemsOf(result).join('\n')).toContain(message);
  });

  it('is not anything else: the contents are not quoted', () => {
    expect(problemsOf(readSlo('password: secret'))).toEqual([
      '1:1 : the file is not an SLO: it has neither apiVersion nor kind nor spec',
    ]);
    expect(problemsOf(readSlo('a: [1'))[0]).toMatch(/^1:\d+ : /);
    expect(problemsOf(readSlo('kind: SLO\nspec: 1')).join('\n')).toContain('2:7 spec: expected an object');
  });
});
