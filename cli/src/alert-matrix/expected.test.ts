import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readAlertRules } from '../pager/alert-rules.ts';
import { EXPECTED_FILE, parseExpected, readExpected } from './expected.ts';
import { allPairs, pairName } from './pair.ts';
import { aPair } from './testing/records.ts';

const names = {
  pairs: [aPair('down'), aPair('kill'), aPair('down', 'stock')],
  alerts: ['Failing', 'Stalled', 'Blind'],
};
const group = (more: string, pairs = '[{faults: [down], targets: [orders]}]') =>
  `version: shop.alerts/v1\ngroups:\n  - name: one\n    why: because\n    pairs: ${pairs}\n    ${more}\n`;
const problemsOf = (text: string) =>
  parseExpected(text, names).problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);

describe('a mistake is reported with its place', () => {
  it.each([
    ['an unknown key', group('most: [Failing]'), '6:5 groups[0].most: unknown key "most"'],
    [
      'an unknown alert',
      group('must: [Failin]'),
      '6:12 groups[0].must[0]: unknown alert "Failin", did you mean "Failing"?',
    ],
    [
      'an unknown fault',
      group('may: []', '[{faults: [dwn], targets: [orders]}]'),
      'unknown fault "dwn", did you mean "down"?',
    ],
    [
      'an unknown target',
      group('may: []', '[{faults: [down], targets: [order]}]'),
      'unknown target "order", did you mean "orders"?',
    ],
    [
      'a pair that there is not',
      group('may: []', '[{faults: [kill], targets: [stock]}]'),
      'the matrix has no pair "kill stock"',
    ],
    [
      'a variant that there is not',
      group('may: []', '[{faults: [down], targets: [orders], variant: slow}]'),
      'the matrix has no pair "down orders (slow)"',
    ],
    [
      'a pair in two places',
      group('may: []', '[{faults: [down], targets: [orders]}, {faults: [down], targets: [orders]}]'),
      '"down orders" is in the group "one" already',
    ],
    [
      'an alert in two lists',
      group('must: [Failing]\n    may: [Failing]'),
      'groups[0].may[0]: Failing is in must already',
    ],
    ['another version', group('may: []').replace('v1', 'v2'), '1:10 version: expected "shop.alerts/v1"'],
    ['no YAML', 'groups: [', 'Flow'],
    ['no groups', 'version: shop.alerts/v1', 'groups is missing'],
  ])('%s', (_, text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });

  it('all of them, in the order of the file', () => {
    const problems = problemsOf(group('must: [A]\n    may: [B]', '[{faults: [x], targets: [orders]}]'));
    expect(problems.map((one) => one.split(':')[0])).toEqual(['5', '6', '7']);
  });
});

it.each([
  ['Failing', 'page', 'must'],
  ['Stalled', 'page', 'may'],
  ['Blind', 'ticket', 'must not'],
  ['Another', 'page', 'must not'],
  ['Another', 'cause', 'may'],
] as const)('%s (%s) is %s', (alertname, severity, expectation) => {
  const { expected } = parseExpected(group('must: [Failing]\n    may: [Stalled]\n    must-not: [Blind]'), names);
  expect(expected?.groupOf(aPair('down'))?.of(alertname, severity)).toBe(expectation);
});

it('a pair in no group has no expectations', () => {
  expect(parseExpected(group('may: []'), names).expected?.groupOf(aPair('kill'))).toBeUndefined();
});

it('the file of the clone has a group for every pair', async () => {
  const rules = await readAlertRules(process.cwd());
  const pairs = allPairs();
  const expected = await readExpected(process.cwd(), { pairs, alerts: rules.map(({ alertname }) => alertname) });
  expect(pairs.filter((pair) => expected.groupOf(pair) === undefined).map(pairName)).toEqual([]);
});

it('the file of the clone uses each list', async () => {
  const text = await readFile(EXPECTED_FILE, 'utf8');
  for (const list of ['must:', 'may:', 'must-not:']) expect(text).toContain(`\n    ${list} [`);
});
