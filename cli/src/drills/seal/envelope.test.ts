import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { readScenarios } from '../format/catalog.ts';
import { isWithoutFailure } from '../format/schema.ts';
import { canonicalJson, digestOf } from './canonical.ts';
import { candidatesOf, draw, NO_FAILURE_SHARE } from './draw.ts';
import { checkEnvelope, commitmentOf, type Envelope, seal } from './envelope.ts';

const scenarios = await readScenarios(cloneRoot());
const LEVELS = [1, 2, 3, 4, 5];
const DRAWS = 10_000;

const inputOf = (seed: string, level: number, hasDeploy = true) => ({
  seed,
  level,
  candidates: candidatesOf(scenarios, level, { hasDeploy }),
});
const sealed = (seed: string, level = 3, nonce = 'ab'.repeat(32)) =>
  seal(scenarios, { ...inputOf(seed, level), build: '0123456789abcdef' }, nonce);

describe('canonical JSON', () => {
  // Source: RFC 8785, sections 3.2.2 to 3.2.4.
  it.each([
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    [[333333333.3333333, 1e30, 4.5, 2e-3, 1e-27], '[333333333.3333333,1e+30,4.5,0.002,1e-27]'],
    [
      { b: [null, true, false], a: '\u20ac$\u000f\nA\'B"\\"/' },
      '{"a":"€$\\u000f\\nA\'B\\"\\\\\\"/","b":[null,true,false]}',
    ],
    [{ left: undefined, kept: 1 }, '{"kept":1}'],
  ])('of %j', (value, expected) => {
    expect(canonicalJson(value)).toBe(expected);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, [undefined]])('does not have %s', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('has the digest that other programs compute', () => {
    // printf '{"a":1,"b":[2]}' | sha256sum
    expect(digestOf({ b: [2], a: 1 })).toBe('0855bfc20eb6cfaa4be7d6b510c63dd22997718bddadcb1a4915cec3a16145b9');
  });
});

describe('a draw', () => {
  it('is the same for the same seed, and is its commitment with the same nonce', () => {
    for (let seed = 0; seed < 1_000; seed++) {
      const input = inputOf(`${seed}`, LEVELS[seed % LEVELS.length] as number);
      expect(canonicalJson(draw(scenarios, input))).toBe(canonicalJson(draw(scenarios, structuredClone(input))));
    }
    expect(commitmentOf(sealed('7'))).toBe(commitmentOf(sealed('7')));
    expect(commitmentOf(sealed('7', 3, 'cd'.repeat(32)))).not.toBe(commitmentOf(sealed('7')));
  });

  it('has 32 random bytes, so that the commitment cannot be opened by trying seeds', () => {
    const { nonce: one } = seal(scenarios, { ...inputOf('7', 3), build: 'x' });
    const { nonce: other } = seal(scenarios, { ...inputOf('7', 3), build: 'x' });
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).not.toBe(one);
  });

  it.each(LEVELS)('of level %d has each scenario as often as its weight says, within 3 sigma', (level) => {
    const input = inputOf('', level);
    const counts = new Map<string, number>();
    for (let seed = 0; seed < DRAWS; seed++) {
      const { scenario } = draw(scenarios, { ...input, seed: `seed ${seed}` });
      counts.set(scenario.id, (counts.get(scenario.id) ?? 0) + 1);
    }
    const all = input.candidates.flatMap(({ id }) => scenarios.find((one) => one.id === id) ?? []);
    const without = all.filter(isWithoutFailure);
    for (const scenario of all) {
      const share = isWithoutFailure(scenario)
        ? NO_FAILURE_SHARE / without.length
        : (1 - NO_FAILURE_SHARE) / (all.length - without.length);
      const sigma = Math.sqrt(DRAWS * share * (1 - share));
      const deviation = ((counts.get(scenario.id) ?? 0) - DRAWS * share) / sigma;
      expect(Math.abs(deviation), `${scenario.id}: ${deviation} sigma`).toBeLessThan(3);
    }
  });

  it('has a quiet time within that of its scenario', () => {
    const times = Array.from({ length: 500 }, (_, seed) => draw(scenarios, inputOf(`${seed}`, 1)).schedule.quietMs);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(90_000);
    expect(new Set(times).size).toBeGreaterThan(400);
  });

  it('prefers what has more weight', () => {
    const weights = new Map([['d101', 9]]);
    const candidates = candidatesOf(scenarios, 1, { hasDeploy: true, weights });
    const ids = Array.from(
      { length: 1_000 },
      (_, seed) => draw(scenarios, { seed: `${seed}`, level: 1, candidates }).scenario.id,
    );
    // 9 of 13 parts of 85 %.
    expect(ids.filter((id) => id === 'd101').length).toBeGreaterThan(500);
  });
});

describe('candidates', () => {
  const idsOf = (level: number, hasDeploy: boolean) =>
    candidatesOf(scenarios, level, { hasDeploy }).map(({ id }) => id);

  it('are those of the level, and those without a failure', () => {
    expect(idsOf(1, true)).toEqual(['d000', 'd002', 'd101', 'd102', 'd103', 'd104', 'd105']);
  });

  it('have decoys from level 3 on', () => {
    expect(idsOf(2, true)).not.toContain('d001');
    expect(idsOf(3, true)).toContain('d001');
  });

  it('without deploys are those that need none', () => {
    expect(idsOf(4, false)).toEqual(['d000', 'd001', 'd002', 'd404']);
    expect(idsOf(4, true)).toContain('d401');
  });

  it('of a level that there is not are none', () => {
    expect(() => draw(scenarios, inputOf('1', 0, true))).not.toThrow();
    expect(() => draw(scenarios, { seed: '1', level: 9, candidates: [] })).toThrow('level 9 has no scenario');
  });
});

describe('an envelope', () => {
  const change = (part: Partial<Envelope>) => checkEnvelope({ ...sealed('7'), ...part }, scenarios);

  it('is what its seed draws', () => {
    for (let seed = 0; seed < 20; seed++) expect(checkEnvelope(sealed(`${seed}`), scenarios)).toEqual([]);
  });

  it.each<[string, Partial<Envelope>, RegExp]>([
    ['another seed', { seed: '8' }, /is not the one that seed 8 draws/],
    ['another schedule', { schedule: { ...sealed('7').schedule, quietMs: 1 } }, /^the schedule is not the one/],
    [
      'candidates of another level',
      { candidates: [{ id: 'd101', weight: 1 }] },
      /^the candidate d101 is of another level/,
    ],
    ['an unknown candidate', { candidates: [{ id: 'd999', weight: 1 }] }, /^the candidate d999 is not in the catalog/],
    ['a candidate without weight', { candidates: [{ id: 'd301', weight: 0 }] }, /^the candidate d301 has the weight 0/],
    ['other scenarios', { catalogDigest: '00' }, /^the scenarios differ/],
  ])('with %s is noticed', (_, part, message) => {
    expect(change(part)).toContainEqual(expect.stringMatching(message));
  });
});
