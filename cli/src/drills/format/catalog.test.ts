import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios, resolveCatalog } from './catalog.ts';
import { publishedSchema } from './published.ts';
import { HIGHEST_LEVEL } from './schema.ts';

const scenarios = await readScenarios(cloneRoot());
const names = { alerts: ['OutboxStalled'] };
const text = (file: string) => readFileSync(join(cloneRoot(), 'drills', file), 'utf8');

describe('the scenarios of the clone', () => {
  it('are 26, for every level and for none', () => {
    expect(scenarios).toHaveLength(26);
    const levels = new Set(scenarios.map(({ level }) => level));
    expect([...levels].toSorted()).toEqual(Array.from({ length: HIGHEST_LEVEL + 1 }, (_, level) => level));
  });

  it('are cured by a restart in a quarter of the failures at most', () => {
    const failures = scenarios.filter(({ level }) => level > 0);
    const cured = failures.filter(({ restart }) => restart === 'cures');
    expect(cured.length).toBeLessThanOrEqual(failures.length / 4);
  });

  it('have two failures at the highest level alone', () => {
    expect(scenarios.filter(({ truths }) => truths.length > 1).map(({ level }) => level)).toEqual([5, 5]);
  });

  it('are valid by drills/schema.json as well', () => {
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(publishedSchema()));
    const invalid = scenarios.filter(({ level, id }) => !validate(parse(text(`${level}/${id}.yaml`))));
    expect(invalid.map(({ id }) => id)).toEqual([]);
    expect(validate({ ...parse(text('1/d101.yaml')), mechanism: 'slow' })).toBe(false);
  });

  it('do not say in their id what they are about', () => {
    expect(scenarios.map(({ id }) => id).filter((id) => !/^d\d{3}$/.test(id))).toEqual([]);
  });
});

describe('a catalog', () => {
  const d101 = { file: 'drills/1/d101.yaml', text: text('1/d101.yaml') };

  it('is refused with everything that is wrong with its files', () => {
    const broken = {
      file: 'drills/1/d102.yaml',
      text: text('1/d102.yaml').replace('mechanism: stopped', 'mechanism: stoped'),
    };
    const error = caught(() => resolveCatalog([d101, broken], { alerts: ['OutboxStalled', 'OrdersErrorBudgetBurn'] }));
    expect(error).toMatchObject({ code: 'invalid_drill', exitCode: 2 });
    expect(error.why).toMatch(
      /^drills\/1\/d102.yaml:9:16 truths\[0\].mechanism: expected one of stopped, .*, got "stoped", did you/,
    );
  });

  it('has each scenario in the file that its level and id name', () => {
    expect(caught(() => resolveCatalog([{ ...d101, file: 'drills/2/d101.yaml' }], names)).why).toBe(
      'drills/2/d101.yaml:1:1 the file of d101 is drills/1/d101.yaml',
    );
  });

  it('has no two scenarios of a level that differ in the truth and in no clue', () => {
    const twin = {
      file: 'drills/1/d109.yaml',
      text: d101.text.replace('d101', 'd109').replace('mechanism: unreachable', 'mechanism: slow'),
    };
    expect(caught(() => resolveCatalog([d101, twin], names)).why).toBe(
      'drills/1/d101.yaml:1:1 clues: they do not differ from those of d109',
    );
    const other = { ...twin, text: twin.text.replace('look: OutboxStalled', 'look: another') };
    expect(resolveCatalog([d101, other], names)).toHaveLength(2);
  });

  it('suggests the nearest id for one that is unknown', () => {
    expect(caught(() => findScenario(scenarios, 'd11'))).toMatchObject({
      code: 'unknown_drill',
      what: expect.stringContaining('did you mean "d101"'),
    });
  });
});

function caught(work: () => unknown): { readonly why: string } {
  try {
    work();
  } catch (error) {
    return error as { why: string };
  }
  throw new Error('nothing was thrown');
}
