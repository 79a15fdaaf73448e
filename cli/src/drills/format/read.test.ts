import { describe, expect, it } from 'vitest';
import { readScenario } from './read.ts';

/** Of each kind of line one at least. */
const valid = `# yaml-language-server: $schema=../schema.json
version: shop.drill/v1
id: d202
level: 2
lite: true
inject:
  - {type: fault, fault: pause, target: orders-2}
needs: {replicas: {orders: 2}}
truths:
  - component: replica:orders-2
    mechanism: frozen
    scope: one-replica
    accept:
      - {component: orders, mechanism: frozen, points: 0.5}
      - {component: replica:orders-2, mechanism: stopped, points: 0.7}
symptom: {of: failures}
pages: [OrdersErrorBudgetBurn, OrdersLatencyBudgetBurn]
levers:
  - {change: restart, target: orders-2}
  - {change: drain, target: orders-2, to: draining}
  - {change: restart, target: orders}
restart: cures
clues:
  - {stage: detect, where: metrics, look: a part of the orders waits for its time limit}
  - {stage: locate, where: status, look: "orders-2 is not healthy, orders-1 is"}
  - {stage: characterise, where: logs, look: orders-2 has no line since the beginning}
hints:
  detect: Not every order is affected.
  locate: Group what fails by instance.
  mitigate: One replica can be replaced, or taken out of the way.
reference:
  - wait page
  - drill ack
  - drill blame --component replica:orders-2 --mechanism frozen --scope one-replica --evidence trace:@failed
  - restart orders-2
  - drill fixed
`;
const names = { alerts: ['OrdersErrorBudgetBurn', 'OrdersLatencyBudgetBurn'] };

function problemsOf(text: string): readonly string[] {
  return readScenario(text, names).problems.map(
    ({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`,
  );
}

/** The valid file with one text replaced. */
function withChange(from: string | RegExp, to: string): string {
  const text = valid.replace(from, to);
  if (text === valid) throw new Error('the change changes nothing');
  return text;
}

describe('a scenario', () => {
  it('is read with its durations in ms and its defaults', () => {
    expect(readScenario(valid, names).scenario).toMatchObject({
      id: 'd202',
      inject: [{ type: 'fault', fault: 'pause', target: 'orders-2', parameters: {} }],
      needs: { replicas: { orders: 2 }, deploy: false },
      quiet: { from: 20_000, to: 90_000 },
      symptom: { of: 'failures', within: 30_000 },
      decoys: [],
      harmless: [],
    });
  });

  it('has all its mistakes reported, in the order of the file, with line and column', () => {
    const text = valid
      .replace('level: 2', 'level: 7')
      .replace('fault: pause', 'fault: paus')
      .replace('component: replica:orders-2', 'component: replica:order-2')
      .replace('OrdersLatencyBudgetBurn]', 'OrdersLatencyBurn]')
      .replace('restart: cures', 'restart: often')
      .replace('hints:', 'hits:');
    expect(problemsOf(text)).toEqual([
      '2:1 : hints is missing: an object (hints by stage)',
      '4:8 level: expected a whole number from 0 to 5, got 7',
      expect.stringMatching(/^7:26 inject\[0\].fault: unknown fault "paus", did you mean "pause"/),
      expect.stringMatching(
        /^10:16 truths\[0\].component: unknown component "replica:order-2", did you mean "replica:orders-2"/,
      ),
      expect.stringMatching(/^17:32 pages\[1\]: unknown alert "OrdersLatencyBurn"/),
      expect.stringMatching(/^22:10 restart: expected one of cures, partly, useless, got "often"/),
      expect.stringMatching(/^27:1 hits: unknown key "hits", did you mean "hints"\?$/),
    ]);
  });

  it.each([
    [
      'a target that the fault does not have',
      'target: orders-2}',
      'target: orders-3}',
      /inject\[0\].target: unknown target of pause "orders-3"/,
    ],
    [
      'a parameter that the fault does not have',
      'target: orders-2}',
      'target: orders-2, rate: 3}',
      /inject\[0\].rate: unknown key "rate"/,
    ],
    ['a duration without a unit', 'needs:', 'lasts: 8\nneeds:', /lasts: expected a duration .*, got 8/],
    [
      'a quiet time that ends before it begins',
      'needs:',
      'quiet: {from: 30s, to: 20s}\nneeds:',
      /quiet.to: it is shorter than from/,
    ],
    ['an id of another level', 'id: d202', 'id: d302', /3:5 id: an id of level 2 begins with d2/],
    [
      'decoys below level 3',
      'clues:',
      'decoys: [{at: ack+5s, do: restart, target: stock}]\nclues:',
      /decoys: there are decoys from level 3 on/,
    ],
    [
      'a decoy of an unknown service',
      'clues:',
      'decoys: [{at: ack+5s, do: restart, target: stok}]\nclues:',
      /decoys\[0\].target: unknown service "stok", did you mean "stock"/,
    ],
    [
      'a failure without a cure',
      /levers:[\s\S]*?restart:/,
      'levers: []\nrestart:',
      /levers: a failure needs an action that cures it/,
    ],
    ['a failure without a symptom', '{of: failures}', '{of: none}', /symptom: a failure has a symptom/],
    [
      'an unknown alert that may fire',
      'levers:',
      'may: [OrdersErrorBudgetBurned]\nlevers:',
      /may\[0\]: unknown alert "OrdersErrorBudgetBurned", did you mean "OrdersErrorBudgetBurn"/,
    ],
    [
      'alerts that may fire beside a stated one',
      'levers:',
      'may: [OrdersErrorBudgetBurn]\nlevers:',
      /may: where a page is stated, others may fire in any case/,
    ],
    [
      'half a truth',
      'mechanism: frozen\n',
      'mechanism: none\n',
      /truths: without a failure component, mechanism and scope are none/,
    ],
    [
      'a wait for nothing',
      'wait page',
      'wait long',
      /reference\[0\]: expected "wait page", "wait page NAME", "wait symptom" or "wait 10s", got "wait long"/,
    ],
    [
      'a wait for the symptom of no metric',
      'wait page',
      'wait symptom',
      /reference\[0\]: it waits for a metric, and the symptom is of none/,
    ],
    [
      'a replica of no service',
      'replicas: {orders: 2}',
      'replicas: {order: 2}',
      /needs.replicas.order: unknown service "order"/,
    ],
    [
      'a symptom that is none',
      '{of: failures}',
      '{of: failure}',
      /symptom.of: unknown of "failure", did you mean "failures"/,
    ],
  ])('with %s is refused', (_, from, to, message) => {
    expect(problemsOf(withChange(from, to))).toContainEqual(expect.stringMatching(message));
  });

  it('that takes a release needs a deploy', () => {
    const text = withChange(/ {2}- \{type: fault.*\n/, '  - {type: release, service: orders, bug: no-retries}\n');
    expect(problemsOf(text)).toContainEqual(expect.stringMatching(/needs: a release needs deploy: true/));
  });

  it.each([
    ['broken YAML', 'id: {'],
    ['another file', 'apiVersion: openslo/v1'],
  ])('is not %s, which is not quoted', (_, text) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain('openslo');
  });
});
