import { describe, expect, it } from 'vitest';
import { expandForEach } from './for-each.ts';
import { fileWith, problemsOf, readText } from './testing.ts';

const hold = (name: string) => `{name: "${name}", type: hold, for: 1s}`;
const each = (items: string, ...steps: string[]) =>
  `- for-each: ${items}\n  steps:\n${steps.map((step) => `    - ${step}`).join('\n')}`;

function namesOf(text: string): readonly string[] | undefined {
  const { experiment, problems } = readText(text);
  expect(problems).toEqual([]);
  return experiment?.method.map(({ name }) => name);
}

describe('a for-each', () => {
  it('repeats its steps for each item, in order, between the steps around it', () => {
    const method = `- ${hold('first')}\n${each('[a, b]', hold(`x \${each}`), hold(`y \${each}`))}\n- ${hold('last')}`;
    expect(namesOf(fileWith({ method }))).toEqual(['first', 'x a', 'y a', 'x b', 'y b', 'last']);
  });

  it('gives each of an object’s values by its key, as what it is', () => {
    const probe = `{name: "\${each.at}", type: probe, provider: {type: orders, count: "\${each.n}"}, tolerance: {counts: "\${each.counts}"}}`;
    const method = each('[{at: p, n: 2, counts: {Confirmed: 2}}, {at: q, n: 3, counts: {none: 3}}]', probe);
    expect(readText(fileWith({ method })).experiment?.method).toMatchObject([
      { name: 'p', provider: { count: 2 }, tolerance: { counts: { Confirmed: 2 } } },
      { name: 'q', provider: { count: 3 }, tolerance: { counts: { none: 3 } } },
    ]);
  });

  it('has items and steps that refer to the configuration', () => {
    const method = each(
      `[{at: a, time: "\${long}"}]`,
      `{name: "\${each.at}", type: hold, for: "2 * \${each.time} + \${short}"}`,
    );
    const { experiment } = readText(fileWith({ method, more: 'configuration: {long: 3s, short: 1s}' }));
    expect(experiment?.method).toMatchObject([{ name: 'a', for: 7000 }]);
  });

  it('gives steps that others refer to by their own names', () => {
    const orders = `{name: "order \${each}", type: action, provider: {type: orders}}`;
    const trace = `{name: "trace \${each}", type: probe, provider: {type: trace, of: "order \${each}"}, tolerance: {spans: 31}}`;
    const method = `${each('[a, b]', orders, trace)}
- {name: last, type: probe, provider: {type: trace, of: order b}, tolerance: {spans: 31}}`;
    expect(namesOf(fileWith({ method }))).toEqual(['order a', 'trace a', 'order b', 'trace b', 'last']);
  });

  it('repeats events of reach and never, and probes of recovery', () => {
    const ready = `{name: "\${each} is ready", type: probe, provider: {type: ready, target: "\${each}"}, tolerance: true}`;
    const more = `recovery:
  - {for-each: [orders, stock], steps: [${ready}]}
reach:
  - {for-each: [orders-stock, orders-payments], events: [{event: breaker.open, edge: "\${each}"}]}`;
    expect(readText(fileWith({ more })).experiment).toMatchObject({
      recovery: [{ name: 'orders is ready' }, { name: 'stock is ready' }],
      reach: [{ edge: 'orders-stock' }, { edge: 'orders-payments' }],
    });
  });

  it('takes steps that are YAML aliases', () => {
    const method = `${each('[a]', `&wait ${hold(`wait \${each}`)}`)}\n${each('[b]', '*wait')}`;
    expect(namesOf(fileWith({ method }))).toEqual(['wait a', 'wait b']);
  });

  it('leaves a file without one as it is', () => {
    const file = { method: [{ name: 'a' }], reach: [], recovery: 'nonsense' };
    expect(expandForEach(file).file).toEqual(file);
  });
});

describe('a mistake in a for-each is reported with its place, and the item that has it:', () => {
  it.each([
    [
      'an empty list',
      each('[]', hold(`\${each}`)),
      '6:15 method[0].for-each: expected a list of 1 or more, got an empty one',
    ],
    ['no list', each('orders', hold(`\${each}`)), '6:15 method[0].for-each: expected a list'],
    ['no steps', '- for-each: [a]', '6:5 method[0]: steps is missing'],
    ['events among steps', '- {for-each: [a], events: []}', 'method[0].events: unknown key "events"'],
    ['an item twice', each('[a, a]', hold(`\${each}`)), '6:15 method[0].for-each: '],
    ['more than 100 items', each(JSON.stringify([...Array(101).keys()]), hold(`\${each}`)), '100 or fewer, got 101'],
    [
      'more than 500 steps',
      each(JSON.stringify([...Array(100).keys()]), ...[1, 2, 3, 4, 5, 6].map((n) => hold(`${n} \${each}`))),
      '6:5 method[0].for-each: for-each makes 600 steps so far; a file repeats 500 at most',
    ],
    [
      'one in another',
      `- for-each: [a]\n  steps:\n    - for-each: [b]\n      steps: [${hold(`\${each}`)}]`,
      '8:9 method[0].steps[0].for-each: a for-each cannot contain another; list the combinations as items',
    ],
    [
      'steps of one name',
      each('[a, b]', hold('wait')),
      '8:16 method[0].steps[0].name: every item would give a step named "wait"',
    ],
    [
      'a key that no step uses',
      each('[{at: a}, {at: b, left: 1}]', hold(`\${each.at}`)),
      `6:33 method[0].for-each[1].left: "left" is used nowhere: write \${each.left} where it is meant`,
    ],
    [
      'a key that the item does not have',
      each(
        '[{at: a, time: 1s, tme: 1s}, {at: b, tme: 2s}]',
        `{name: "\${each.at} \${each.tme}", type: hold, for: "\${each.time}"}`,
      ),
      '8:59 method[0].steps[0].for: the item has no "time", did you mean "tme"? (for-each item 2 of 2, line 6)',
    ],
    [
      'a key of an item that is not an object',
      each('[a]', hold(`\${each.at}`)),
      `the item is "a" and has no keys; write \${each} (for-each item 1 of 1, line 6)`,
    ],
    [
      'an object where its keys are meant',
      each('[{at: a}]', hold(`\${each} \${each.at}`)),
      `write \${each.key} with one of at`,
    ],
    [
      'an object within a text',
      each('[{at: {b: 1}}]', hold(`x \${each.at}`)),
      `\${each.at} is an object, which cannot be part of a text`,
    ],
    [
      'each outside of one',
      `- ${hold(`\${each.at}`)}`,
      `6:12 method[0].name: \${each.at} has a value only in the steps or events of a for-each`,
    ],
    [
      'a value that is wrong in one item',
      each('[{at: a, for: 1s}, {at: b, for: 2}]', `{name: "\${each.at}", type: hold, for: "\${each.for}"}`),
      '8:47 method[0].steps[0].for: expected a duration (200ms, 3s, 1m, or an expression like budget.order + 1s), got 2 without a unit (for-each item 2 of 2, line 6)',
    ],
    [
      'a name that another step has',
      `- ${hold('b')}\n${each('[a, b]', hold(`\${each}`))}`,
      '9:16 method[1].steps[0].name: duplicate name: another step is named "b" (for-each item 2 of 2, line 7)',
    ],
    [
      'a reference to a step that comes later',
      each(
        '[a]',
        `{name: "trace \${each}", type: probe, provider: {type: trace, of: "order \${each}"}, tolerance: {spans: 31}}`,
        `{name: "order \${each}", type: action, provider: {type: orders}}`,
      ),
      '"order a" comes later; only steps before this one can be named (for-each item 1 of 1, line 6)',
    ],
    [
      'a mistake behind a YAML alias',
      `${each('[a]', `&wait {name: "\${each}", type: hold, for: 1}`)}\n${each('[b]', '*wait')}`,
      '8:50 method[0].steps[0].for: expected a duration',
    ],
  ])('%s', (_, method, message) => {
    expect(problemsOf(fileWith({ method })).join('\n')).toContain(message);
  });

  it('a mistake of every item, once', () => {
    const method = each('[a, b, c]', `{name: "\${each}", type: hold, fro: 1s}`);
    expect(problemsOf(fileWith({ method }))).toEqual([
      expect.stringContaining('8:9 method[0].steps[0]: for is missing'),
      expect.stringContaining('unknown key "fro", did you mean "for"? (for-each item 1 of 3, line 6)'),
    ]);
  });

  it('the configuration has no value named each', () => {
    const method = each('[a]', hold(`\${each}`));
    expect(problemsOf(fileWith({ method, more: 'configuration: {each: 1}' })).join('\n')).toContain(
      'configuration.each: "each" is the item of a for-each; take another name',
    );
  });
});
