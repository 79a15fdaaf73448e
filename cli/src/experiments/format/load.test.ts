import { edges } from '@shop/kit/edges.ts';
import { describe, expect, it } from 'vitest';
import { fileWith, problemsOf, readText } from './testing.ts';

const probe = (provider: string, tolerance = '{lte: 1}') =>
  `- {name: a, type: probe, provider: {${provider}}, tolerance: ${tolerance}}`;
const orders = (tolerance: string) => probe('type: orders', tolerance);
const fault = (rest: string) => `- {name: a, type: action, provider: {type: fault, ${rest}}}`;
const placed = '- {name: placed, type: action, provider: {type: orders}}\n';

describe('a mistake is reported with its place, what was expected and the nearest name:', () => {
  it.each([
    [
      'a key that does not exist',
      fileWith({ more: 'reech: []' }),
      '7:1 reech: unknown key "reech", did you mean "reach"?',
    ],
    ['a step without a name', fileWith({ method: '- {type: hold, for: 1s}' }), '6:5 method[0]: name is missing'],
    [
      'a type that does not exist',
      fileWith({ method: '- {name: a, type: prob}' }),
      '6:21 method[0].type: unknown type "prob", did you mean "probe"?',
    ],
    [
      'no provider',
      fileWith({ method: '- {name: a, type: probe}' }),
      'method[0].provider: provider must be an object with type',
    ],
    [
      'a provider that does not exist',
      fileWith({ method: probe('type: order') }),
      'unknown type "order", did you mean "orders"?',
    ],
    ['an action with type: probe', fileWith({ method: probe('type: revert') }), '"revert" goes with type: action'],
    [
      'a probe with type: action',
      fileWith({ method: '- {name: a, type: action, provider: {type: sql}}' }),
      '"sql" goes with type: probe',
    ],
    [
      'a plain number for a duration',
      fileWith({ method: '- {name: a, type: hold, for: 10}' }),
      '6:32 method[0].for: expected a duration (200ms, 3s, 1m, or an expression like budget.order + 1s), got 10 without a unit',
    ],
    [
      'a unit that does not exist',
      fileWith({ method: '- {name: a, type: hold, for: 10 sec}' }),
      '"10 sec" is neither a duration',
    ],
    [
      'a number out of range',
      fileWith({ method: probe('type: orders, count: 0', '{each: {response: Confirmed}}') }),
      'method[0].provider.count: expected a whole number from 1 to 100000, got 0',
    ],
    [
      'a budget that does not exist',
      fileWith({ method: orders('{max: {lte: budget.orders-payment.call}}') }),
      'did you mean "budget.orders-payments.call"?',
    ],
    [
      'a duration and a number added up',
      fileWith({ method: orders('{max: {lte: 1s + 5}}') }),
      'adds a duration and a plain number',
    ],
    ['a number where a time is compared', fileWith({ method: orders('{max: {lte: 500}}') }), 'got 500 without a unit'],
    [
      'a duration where a count is compared',
      fileWith({ method: orders('{counts: {Confirmed: 5s}}') }),
      'got the duration "5s"',
    ],
    [
      'a response that does not exist',
      fileWith({ method: orders('{each: {response: Confirmd}}') }),
      'method[0].tolerance.each.response: expected',
    ],
    [
      'a problem code that does not exist',
      fileWith({ method: orders('{counts: {503 catalog_unavailble: 1}}') }),
      'unknown problem "catalog_unavailble", did you mean "catalog_unavailable"?',
    ],
    [
      'a problem code with another status',
      fileWith({ method: orders('{counts: {500 catalog_unavailable: 1}}') }),
      'the status of catalog_unavailable is 503',
    ],
    ['an empty tolerance', fileWith({ method: orders('{}') }), 'states nothing, so it could never fail'],
    [
      'an empty part of a tolerance',
      fileWith({ method: orders('{counts: {}}') }),
      'states nothing, so it could never fail',
    ],
    [
      'no tolerance',
      fileWith({ method: '- {name: a, type: probe, provider: {type: orders}}' }),
      'tolerance is missing',
    ],
    [
      'a limit that nothing is below',
      fileWith({ method: orders('{counts: {Confirmed: {gte: 0}}}') }),
      'it could never fail',
    ],
    [
      'a limit that everything is above',
      fileWith({ method: orders('{counts: {Confirmed: {gt: -1}}}') }),
      'it could never fail',
    ],
    [
      'limits with nothing between them',
      fileWith({ method: orders('{max: {gte: 2s, lte: 1s}}') }),
      'it could never hold',
    ],
    [
      'times that are measured until they hold',
      fileWith({
        method: '- {name: a, type: probe, provider: {type: orders}, tolerance: {p50: {lte: 1s}}, within: 10s}',
      }),
      'times of new orders are measured once',
    ],
    [
      'an exact number of events that must never happen',
      fileWith({ more: 'never: [{event: process.exit, exactly: 2}]' }),
      'never takes no exact number',
    ],
    [
      'an exact number of events that may be lost with their process',
      fileWith({ more: 'reach: [{event: duplicate, exactly: 2}]' }),
      'unknown key "exactly"',
    ],
    [
      'a query for data hidden from the operator',
      fileWith({
        method: probe(
          'type: sql, database: orders, query: "SELECT count(*) FROM pg_stat_activity WHERE state LIKE \'idle%\'"',
          '0',
        ),
      }),
      "state of other roles' sessions is NULL for the operator",
    ],
    [
      'a fault that does not exist',
      fileWith({ method: fault('fault: latncy, target: orders-db') }),
      '6:60 method[0].provider.fault: unknown fault "latncy", did you mean "latency"?',
    ],
    [
      'a target that does not exist',
      fileWith({ method: fault('fault: latency, target: orders-paymnts, latency: 1s') }),
      'unknown name "orders-paymnts", did you mean "orders-payments"?',
    ],
    [
      'an alert that has no rule',
      fileWith({
        method: '- {name: a, type: probe, provider: {type: alert, name: OutboxStaled, state: silent}}',
      }),
      'unknown name "OutboxStaled", did you mean "OutboxStalled"?',
    ],
    [
      'an event of an alert that has no rule',
      fileWith({ more: 'never: [{event: alert.fired, name: Outbox}]' }),
      'never[0].name: unknown name "Outbox"',
    ],
    [
      'a state that no alert has',
      fileWith({
        method: '- {name: a, type: probe, provider: {type: alert, name: OutboxStalled, state: pending}}',
      }),
      'method[0].provider.state: expected one of firing, silent',
    ],
    [
      'a target of another kind',
      fileWith({ method: fault('fault: latency, target: orders, latency: 1s') }),
      'unknown name "orders"',
    ],
    [
      'a replica that the experiment does not ask for',
      fileWith({ method: fault('fault: pause, target: orders-2') }),
      'did you mean "orders-1"?',
    ],
    [
      'a parameter that does not exist',
      fileWith({ method: fault('fault: latency, target: orders-db, lateny: 1s') }),
      'unknown key "lateny", did you mean "latency"?',
    ],
    [
      'a parameter that is missing',
      fileWith({ method: fault('fault: latency, target: orders-db') }),
      'latency is missing',
    ],
    [
      'a parameter without its unit',
      fileWith({ method: fault('fault: latency, target: orders-db, latency: 5') }),
      'got 5 without a unit',
    ],
    [
      'a failpoint that does not exist',
      fileWith({
        method: fault('fault: failpoint, target: orders, at: order-lost:saved, action: kill'),
        more: 'platform: {failpoints: true}',
      }),
      'orders has no failpoint order-lost:saved',
    ],
    [
      'a response lost where none is on its way',
      fileWith({
        method: fault('fault: failpoint, target: orders, at: order-started:saved, action: drop-reply'),
        more: 'platform: {failpoints: true}',
      }),
      'orders.order-started:saved has no response to lose',
    ],
    [
      'a failpoint without failpoints',
      fileWith({ method: fault('fault: failpoint, target: orders, at: order-started:saved, action: kill') }),
      'only with platform: {failpoints: true}',
    ],
    [
      'two steps of one name',
      fileWith({ method: `${placed}${placed}` }),
      '7:12 method[1].name: duplicate name: another step is named "placed"',
    ],
    [
      'a reference to nothing',
      fileWith({ method: `${placed}${probe('type: trace, of: place', '{spans: 31}')}` }),
      'unknown step "place", did you mean "placed"?',
    ],
    [
      'a reference to a later step',
      fileWith({ method: `${probe('type: trace, of: placed', '{spans: 31}')}\n${placed}` }),
      'comes later',
    ],
    [
      'a comparison with a list that names a step that is not there',
      fileWith({
        method: `${placed}${probe('type: history, of: placed', '{ratio: {of: [placed, replaced], p50: {lte: 1.2}}}')}`,
      }),
      'tolerance.ratio.of[1]: unknown step "replaced"',
    ],
    [
      'the revert of a step that is not a fault',
      fileWith({ method: `${placed}- {name: h, type: action, provider: {type: revert, of: placed}}` }),
      '"placed" is not a fault',
    ],
    [
      'the join of a step that is not in the background',
      fileWith({ method: `${placed}- {name: j, type: action, provider: {type: join, of: placed}}` }),
      '"placed" is not a step with background: true',
    ],
    [
      'the join of a load without an end',
      fileWith({
        method: `- {name: l, type: action, provider: {type: load, rate: 1/s, until: stop}}
- {name: j, type: action, provider: {type: join, of: l}}`,
      }),
      '"l" is not a step with background: true, nor a load with for',
    ],
    [
      'a since that names nothing',
      fileWith({ method: probe('type: metric, name: shop.sagas, since: nowhere', '1') }),
      'unknown step "nowhere"',
    ],
    [
      'a contract that does not exist',
      fileWith({ method: `${placed}${probe('type: trace, of: placed', '{contract: confirmd}')}` }),
      'did you mean "confirmed"?',
    ],
    [
      'an event that does not exist',
      fileWith({ more: 'reach: [{event: breaker.opened, edge: orders-stock}]' }),
      'unknown event "breaker.opened", did you mean "breaker.open"?',
    ],
    ['an event without its edge', fileWith({ more: 'reach: [{event: breaker.open}]' }), 'reach[0]: edge is missing'],
    [
      'a value that the configuration does not have',
      fileWith({ method: `- {name: a, type: hold, for: "\${lenght}"}`, more: 'configuration: {length: 5s}' }),
      'configuration has no "lenght", did you mean "length"?',
    ],
    ['a value that is used nowhere', fileWith({ more: 'configuration: {length: 5s}' }), '"length" is used nowhere'],
    ['a tag with capitals', fileWith({ more: 'tags: [Fast]' }), 'tags[0]: expected a text, got "Fast"'],
    [
      'a budget shorter than its holds',
      fileWith({ method: '- {name: a, type: hold, for: 2m}', more: 'budget: 1m' }),
      'the budget is 60s',
    ],
    [
      'an environment variable that no service reads',
      fileWith({ more: 'platform: {env: {EDGE_ORDERS_PAYMENTS_ATEMPTS: "1"}}' }),
      'did you mean "EDGE_ORDERS_PAYMENTS_ATTEMPTS"?',
    ],
    [
      'a bug that does not exist',
      fileWith({ more: 'platform: {failpoints: true, seeded-bugs: [no-inbx]}' }),
      'did you mean "no-inbox"?',
    ],
    [
      'a query that writes',
      fileWith({ method: probe('type: sql, database: orders, query: "DELETE FROM orders"', '1') }),
      'begins with SELECT or WITH',
    ],
    [
      'a query without its values',
      fileWith({ method: probe('type: sql, database: orders, query: "SELECT $1"', '1') }),
      'the query has 1 values, "values" has 0',
    ],
    [
      'a load without an end',
      fileWith({ method: '- {name: a, type: action, provider: {type: load, rate: 20/s}}' }),
      'either for: 30s or until: stop',
    ],
    [
      'a rate without its unit',
      fileWith({ method: '- {name: a, type: action, provider: {type: load, rate: 20, until: stop}}' }),
      'expected a rate (20/s, 90/m), got 20 without a unit',
    ],
    [
      'a log probe that matches any line',
      fileWith({ method: probe('type: log, service: orders', '{lte: 3}') }),
      'state contains, matches or level',
    ],
    [
      'a broken regular expression',
      fileWith({ method: probe('type: log, service: orders, matches: "("', '1') }),
      'Invalid regular expression',
    ],
    [
      'a queue that does not exist',
      fileWith({ method: probe('type: queue, name: shipping.dead-leters, field: ready', '1') }),
      'did you mean "shipping.dead-letters"?',
    ],
    [
      'an invariant that does not exist',
      fileWith({ more: 'audit: {expect: {I99: fail}}' }),
      '"I99" is not allowed here',
    ],
    ['a duplicate key', fileWith({ more: 'seed: 1\nseed: 2' }), 'Map keys must be unique'],
    ['text that is not YAML', 'method: [', '1:10 '],
    ['an empty file', '', 'the file is not an experiment'],
    ['some other file', 'password: secret', 'the file is not an experiment: it has neither version nor id nor method'],
    ['another version', fileWith().replace('v1', 'v9'), '1:10 version: expected "shop.chaos/v1", got "shop.chaos/v9"'],
  ])('%s', (_, text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });

  it('all of them together, in the order of the file', () => {
    const text = fileWith({
      method: '- {name: a, type: hold, for: 3}\n- {name: b, type: prob}\n- {name: c, type: hold, for: 1s, untl: 2s}',
      more: 'sed: 3',
    });
    expect(problemsOf(text).map((problem) => problem.split(' ')[0])).toEqual(['6:32', '7:21', '8:36', '9:1']);
  });
});

describe('a valid file', () => {
  const read = (text: string, settings = {}) => {
    const { experiment, problems } = readText(text, settings);
    expect(problems).toEqual([]);
    return experiment;
  };

  it('has its defaults', () => {
    expect(read(fileWith())).toMatchObject({
      seed: 1,
      budget: 180_000,
      tags: [],
      platform: { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: false },
      'steady-state-hypothesis': { probes: [{ provider: { type: 'ready' }, within: 10_000 }, {}, {}, {}, {}] },
      audit: { accept: {}, expect: {}, 'dead-letters': 0, settle: 60_000 },
    });
  });

  it.each(['audit: all', 'audit: {}', ''])('"%s" is an audit without exceptions', (more) => {
    expect(read(fileWith({ more }))?.audit).toEqual({ accept: {}, expect: {}, 'dead-letters': 0, settle: 60_000 });
  });

  it('has its durations in ms and its bounds as numbers', () => {
    const method = `- {name: o, type: probe, provider: {type: orders, timeout: 1.5s}, tolerance: {max: {lte: budget.orders-payments.call + 300ms}}}`;
    const { callTimeoutMs } = edges['orders-payments'];
    expect(read(fileWith({ method }))?.method[0]).toMatchObject({
      provider: { count: 1, timeout: 1500 },
      tolerance: { max: { lte: callTimeoutMs + 300 } },
    });
  });

  it('has the budgets that its own environment gives the services', () => {
    const method = '- {name: a, type: hold, for: budget.orders-payments.attempt}';
    const more = 'platform: {env: {EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS: "500"}}';
    expect(read(fileWith({ method, more }))?.method[0]).toMatchObject({ for: 500 });
  });

  it('has the fault’s own parameters apart from its name and target', () => {
    const method = fault('fault: slow-close, target: orders-payments, delay: 2s');
    expect(read(fileWith({ method }))?.method[0]).toMatchObject({
      provider: { type: 'fault', fault: 'slow_close', target: 'orders-payments', parameters: { delay: 2000 } },
      witness: { within: 5000 },
    });
  });

  it('takes its configuration, as what it is, and settings over it', () => {
    const method = `- {name: o, type: action, provider: {type: orders, count: "\${n}"}}\n- {name: h, type: hold, for: "2 * \${time} + 1s"}`;
    const text = fileWith({ method, more: 'configuration: {n: 5, time: 3s}' });
    expect(read(text)?.method).toMatchObject([{ provider: { count: 5 } }, { for: 7000 }]);
    expect(read(text, { n: 7, time: '1s' })?.method).toMatchObject([{ provider: { count: 7 } }, { for: 3000 }]);
    expect(problemsOf(text, { tme: 1 }).join()).toContain(
      '--set tme: the file has no such configuration, did you mean "time"?',
    );
  });

  it.each([
    ['a step', { method: '- {name: a, type: probe, provider: {type: alert, name: Watchdog, state: firing}}' }],
    [
      'a probe after the faults',
      { more: 'recovery: [{name: a, type: probe, provider: {type: event, event: alert.fired}}]' },
    ],
    ['what must not happen', { more: 'never: [{event: alert.fired}]' }],
    ['the platform itself', { more: 'platform: {alerts: true}' }],
  ])('has a platform with alerts where %s asks for them', (_, file) => {
    expect(read(fileWith(file))).toMatchObject({ platform: { alerts: true } });
  });

  it('may name the replicas it asks for', () => {
    const method = fault('fault: pause, target: orders-2');
    expect(read(fileWith({ method, more: 'platform: {replicas: {orders: 2}}' }))).toBeDefined();
  });
});
