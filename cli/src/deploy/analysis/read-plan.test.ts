import { describe, expect, it } from 'vitest';
import { guards } from './plan.ts';
import { type ReadPlan, readPlan } from './read-plan.ts';

const valid = `version: shop.deploy/v1
service: orders
strategy: canary
steps:
  - {weight: 1, requests: 20, for: 20s}
  - {weight: 5, requests: 100, for: 20s}
  - {weight: 50, requests: 600, for: 1.5m}
limit: 10m
analysis:
  alpha: 0.02
  errors: {tolerate: 1.5}
  slow: {above: p99, tolerate: 2, warm-up: 60}
  margin: 0.5%
  guards: [exit, audit]
`;

function withChange(...changes: readonly (readonly [string | RegExp, string])[]): string {
  const text = changes.reduce((one, [from, to]) => one.replace(from, to), valid);
  if (text === valid) throw new Error('the change changes nothing');
  return text;
}

const problemsOf = ({ problems }: ReadPlan) =>
  problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);

describe('a plan', () => {
  it('is read with its steps, and alpha divided over the tests', () => {
    expect(readPlan(valid).plan).toEqual({
      service: 'orders',
      baseline: 'fresh',
      steps: [
        { share: 0.01, requests: 20, forMs: 20_000 },
        { share: 0.05, requests: 100, forMs: 20_000 },
        { share: 0.5, requests: 600, forMs: 90_000 },
      ],
      limitMs: 600_000,
      errors: { alpha: 0.016, tolerate: 1.5 },
      slow: { alpha: 0.004, tolerate: 2, above: 0.99, warmUp: 60 },
      margin: 0.005,
      guards: ['exit', 'audit'],
    });
  });

  it('needs no analysis: 0.8 % for errors, 0.2 % for slowness, a margin of 1 %, all guards', () => {
    expect(readPlan(valid.replace(/analysis:[\s\S]*$/, '')).plan).toMatchObject({
      errors: { alpha: 0.008, tolerate: 1 },
      slow: { alpha: 0.002, tolerate: 1.25, above: 0.9, warmUp: 50 },
      margin: 0.01,
      guards,
    });
  });

  it('has all its mistakes reported, in the order of the file, with line and column', () => {
    const text = withChange(
      ['v1', 'v2'],
      ['service: orders', 'service: gateway'],
      ['weight: 5,', 'weigt: 5,'],
      ['requests: 600', 'requests: 0'],
      ['for: 1.5m', 'for: 90'],
      ['0.5%', '0.5'],
      ['audit', 'audits'],
    );
    expect(problemsOf(readPlan(text))).toEqual([
      '1:10 version: expected "shop.deploy/v1", got "shop.deploy/v2"',
      '2:10 service: expected one of orders, catalog, stock, payments, got "gateway"',
      '6:5 steps[1]: weight is missing: a whole number from 1 to 99',
      '6:6 steps[1].weigt: unknown key "weigt", did you mean "weight"?',
      '7:28 steps[2].requests: expected a whole number, 1 or more, got 0',
      '7:36 steps[2].for: expected a text (least time of the step, such as 20s or 2m), got 90',
      expect.stringMatching(/^13:11 analysis\.margin: expected a text \(.*such as 1%\), got 0\.5$/),
      expect.stringMatching(/^14:18 analysis\.guards\[1\]: .*did you mean "audit"\?$/),
    ]);
  });

  it('has its other mistakes reported beside a key that is unknown, or a value of another form', () => {
    const text = withChange(['weight: 5,', 'weight: 1, x: 1,'], ['0.5%', '90%'], ['alpha: 0.02', 'alpha: 2']);
    expect(problemsOf(readPlan(text))).toEqual([
      '6:14 steps[1].weight: expected more than 1 of the step before',
      '6:17 steps[1].x: unknown key "x"; there are weight, requests, for',
      '10:10 analysis.alpha: expected a number from 0.0001 to 0.1, got 2',
      '13:11 analysis.margin: expected more than 0% and at most 50%, got 90%',
    ]);
  });

  it.each([
    [
      'weights that do not rise',
      [['weight: 5,', 'weight: 1,']],
      '6:14 steps[1].weight: expected more than 1 of the step before',
    ],
    [
      'requests that do not rise',
      [['requests: 100', 'requests: 20']],
      '6:27 steps[1].requests: expected more than 20 of the step before, counted since the rollout began',
    ],
    [
      'steps longer than the limit',
      [['limit: 10m', 'limit: 2m']],
      '8:8 limit: the steps take 130s at least, which is more than 2m',
    ],
    ['no margin', [['0.5%', '0%']], '13:11 analysis.margin: expected more than 0% and at most 50%, got 0%'],
    [
      'a warm-up longer than the rollout',
      [['warm-up: 60', 'warm-up: 600']],
      '12:44 analysis.slow.warm-up: the last step ends after 600 requests, so slowness would never be evaluated; state less',
    ],
    ['a key twice', [['limit: 10m', 'limit: 10m\nlimit: 10m']], '9:1 : Map keys must be unique'],
  ] as const)('is refused with %s', (_title, changes, problem) => {
    expect(problemsOf(readPlan(withChange(...changes)))).toEqual([problem]);
  });

  it('is nothing that its file has nothing of; its text is not repeated', () => {
    expect(problemsOf(readPlan('password: secret'))).toEqual([
      '1:1 : the file is not a plan: shop.deploy/v1 has version, strategy and steps',
    ]);
  });
});
