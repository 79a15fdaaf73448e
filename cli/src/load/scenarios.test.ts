import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_TIMEOUT_MS, GRACEFUL_STOP_MS, k6Options } from '../../../scenarios/lib/k6-options.ts';
import { confirmedOrder, mixedOrder } from '../../../scenarios/lib/order-mix.ts';
import { fraction } from '../../../scenarios/lib/random.ts';
import { scenarioNames, scenarios } from '../../../scenarios/lib/scenarios.ts';

const root = new URL('../../../scenarios/', import.meta.url);

describe('every scenario', () => {
  it('has a script of its name, and every script a scenario', () => {
    const scripts = readdirSync(root).filter((file) => file.endsWith('.ts'));
    expect(scripts.map((file) => file.replace('.ts', '')).toSorted()).toEqual([...scenarioNames].toSorted());
  });

  it.each(scenarioNames)('%s fills its duration with phases that follow each other', (name) => {
    const { defaults, phases, isSteady } = scenarios[name];
    const settings = fc.record({
      rate: fc.integer({ min: 1, max: 2_000 }),
      durationS: fc.integer({ min: name === 'ramp' ? 20 : 36, max: 3_600 }),
      vus: fc.integer({ min: 1, max: 1_000 }),
      hasFault: isSteady ? fc.boolean() : fc.constant(false),
    });
    fc.assert(
      fc.property(settings, (chosen) => {
        const parts = phases({ ...defaults, ...chosen });
        expect(parts[0]?.startS).toBe(0);
        for (const [index, { startS, durationS, vus }] of parts.entries()) {
          expect(durationS).toBeGreaterThanOrEqual(1);
          expect(vus).toBeGreaterThanOrEqual(1);
          const next = parts[index + 1]?.startS ?? startS + durationS;
          expect(startS + durationS).toBe(next);
        }
        const last = parts.at(-1);
        expect((last?.startS ?? 0) + (last?.durationS ?? 0)).toBe(chosen.durationS);
      }),
    );
  });

  it.each(scenarioNames)('%s has a threshold on dropped orders in every paced phase that is checked', (name) => {
    const { defaults, phases, requests } = scenarios[name];
    const parts = phases({ ...defaults, hasFault: false });
    const { thresholds } = k6Options(parts, requests);
    for (const phase of parts.filter(({ demands, rate }) => demands !== 'nothing' && rate !== undefined)) {
      expect(thresholds[`dropped_iterations{scenario:${phase.name}}`]).toHaveLength(1);
    }
    expect(Object.keys(thresholds).length).toBeGreaterThan(0);
  });
});

describe('with a fault', () => {
  const phases = scenarios.steady.phases({ rate: 10, durationS: 60, vus: 50, hasFault: true });

  it('responses are checked before it and from ten seconds after it; during it each order must get a response', () => {
    expect(phases.map(({ name, demands, durationS }) => [name, demands, durationS])).toEqual([
      ['before', 'expected', 20],
      ['fault', 'responded', 20],
      ['recovery', 'nothing', 10],
      ['after', 'expected', 10],
    ]);
    const { thresholds } = k6Options(phases, 1);
    expect(thresholds['order_duration{phase:fault}']).toEqual(['max<10000']);
    expect(Object.keys(thresholds).filter((name) => name.includes('recovery'))).toEqual([]);
  });

  it('what else a scenario expects of its responses is not expected while the fault acts, nor right after it', () => {
    const { thresholds } = k6Options(phases, 1, { order_read_back: ['rate==1'] });
    expect(Object.keys(thresholds).filter((name) => name.startsWith('order_read_back'))).toEqual([
      'order_read_back{phase:before}',
      'order_read_back{phase:after}',
    ]);
  });
});

describe('a system that hangs', () => {
  it('does not hold a run: iterations are cut off before the client gives up, and after the gateway has responded', () => {
    expect(GRACEFUL_STOP_MS).toBeLessThan(CLIENT_TIMEOUT_MS);
    expect(GRACEFUL_STOP_MS).toBeGreaterThan(9_500);
  });
});

describe('what is ordered', () => {
  it('follows from the seed, the phase and the number alone', () => {
    expect(confirmedOrder(7, 'whole', 3)).toEqual(confirmedOrder(7, 'whole', 3));
    const ordersOf = (seed: number) =>
      Array.from({ length: 50 }, (_, index) => confirmedOrder(seed, 'whole', index).body);
    expect(ordersOf(7)).not.toEqual(ordersOf(8));
  });

  it('is spread evenly', () => {
    const shares = Array.from({ length: 10_000 }, (_, index) => fraction(1, 'whole', index, 'product'));
    for (const tenth of Array.from({ length: 10 }, (_, index) => index / 10)) {
      const within = shares.filter((share) => share >= tenth && share < tenth + 0.1).length;
      expect(within).toBeGreaterThan(850);
      expect(within).toBeLessThan(1_150);
    }
  });

  it('is of every kind in the mixed scenario, seven in ten to be confirmed, never twice the same product', () => {
    const orders = Array.from({ length: 2_000 }, (_, index) => mixedOrder(1, 'whole', index));
    const share = (kind: string) => orders.filter((order) => order.kind === kind).length / orders.length;
    expect(share('confirmed')).toBeCloseTo(0.7, 1);
    for (const kind of ['declined', 'out of stock', 'invalid']) expect(share(kind)).toBeCloseTo(0.1, 1);
    expect(new Set(orders.map(({ expected }) => expected.code))).toEqual(
      new Set([undefined, 'invalid_request', 'unknown_product', 'malformed_json']),
    );
    for (const { body, distinctProducts } of orders.filter(({ kind }) => kind === 'confirmed')) {
      const { lines } = JSON.parse(body) as { lines: { productId: number }[] };
      expect(new Set(lines.map(({ productId }) => productId)).size).toBe(distinctProducts);
    }
  });
});

describe('the summary', () => {
  it('has every value that a threshold is about', () => {
    for (const name of scenarioNames) {
      const { defaults, phases, requests } = scenarios[name];
      const { thresholds, summaryTrendStats } = k6Options(phases({ ...defaults, hasFault: false }), requests);
      const values = Object.entries(thresholds)
        .filter(([metric]) => metric.startsWith('order_duration'))
        .flatMap(([, conditions]) => conditions.map((condition) => condition.split('<')[0]));
      for (const value of values) expect(summaryTrendStats).toContain(value);
    }
  });
});
