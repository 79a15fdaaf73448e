/**
 * Whether the promtool tests would notice a mistake in a rule: each rule is changed in one place, and the tests of its alert
 * must fail. It takes about a minute of a core.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { type Rules, ruleFile, rulesOf } from '../../dashboards/rule-files.ts';
import { rulesFor, ruleTestFile, scenarioFiles } from '../../dashboards/rule-tests.ts';
import type { RuleGroup } from '../../dashboards/rules.ts';
import type { ScenarioFile } from '../../dashboards/scenario.ts';
import { mutationsOf } from './mutations.ts';
import { noPromtool, promtool } from './promtool.ts';

const root = new URL('../../', import.meta.url).pathname;
const slos = await readSlos(root);
const WANTED = 0.95;

interface AnyRule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
}
type Groups = readonly RuleGroup<AnyRule>[];

/** The groups with one mistake, and what it is. */
interface Mutant {
  readonly what: string;
  readonly groups: Groups;
}

function mutantsOf(groups: Groups): readonly Mutant[] {
  const windows = groups.flatMap(({ name }) => /^slo-rate-(\w+)$/.exec(name)?.[1] ?? []);
  return groups.flatMap(({ rules }, group) =>
    rules.flatMap((rule, index) => {
      const isThreshold = rule.alert !== undefined || rule.record?.startsWith('shop:') === true;
      return mutationsOf(rule.expr, { numbers: isThreshold, windows: rule.alert === undefined ? [] : windows }).map(
        ({ what, expr }) => ({
          what: `${rule.alert ?? rule.record}: ${what}`,
          groups: groups.map((one, at) =>
            at === group
              ? { ...one, rules: one.rules.map((other, place) => (place === index ? { ...other, expr } : other)) }
              : one,
          ),
        }),
      );
    }),
  );
}

/** The mutants of an alert that none of its files notices. */
async function survivorsOf(
  files: readonly ScenarioFile[],
  rules: Rules,
  folder: string,
  profile: (typeof profiles)[keyof typeof profiles],
) {
  const mutants = mutantsOf(rulesFor(files[0] as ScenarioFile, rules) as Groups);
  await mkdir(join(folder, 'rules'), { recursive: true });
  const tests = await Promise.all(
    mutants.flatMap(({ groups }, index) =>
      files.map(async (file) => {
        const name = `${index}-${file.name}.yaml`;
        await writeFile(join(folder, 'rules', name), ruleFile(groups));
        await writeFile(
          join(folder, name),
          ruleTestFile(file, slos, profile).replace(`rules/${file.name}.yaml`, `rules/${name}`),
        );
        return name;
      }),
    ),
  );
  if (tests.length === 0) return { count: 0, survivors: [] };
  const { text } = await promtool(['test', 'rules', ...tests], folder);
  const passed = new Set([...text.matchAll(/Unit Testing: +(\S+)\n +SUCCESS/g)].map(([, name = '']) => name));
  const survivors = mutants.filter((_, index) => files.every((file) => passed.has(`${index}-${file.name}.yaml`)));
  return { count: mutants.length, survivors: survivors.map(({ what }) => what) };
}

it.skipIf(noPromtool !== undefined).each(Object.values(profiles))(
  'of the mistakes in the rules of $name, the promtool tests notice at least 95 %',
  { timeout: 600_000 },
  async (profile) => {
    const rules = rulesOf(slos, profile);
    const byAlert = [...Map.groupBy(scenarioFiles(slos, profile), ({ alert, burn }) => `${alert} ${burn}`).values()];
    const folder = await mkdtemp(join(tmpdir(), 'shop-mutations-'));
    try {
      const results: { count: number; survivors: readonly string[] }[] = [];
      const queue = byAlert.entries();
      const work = async () => {
        for (const [index, files] of queue)
          results.push(await survivorsOf(files, rules, join(folder, String(index)), profile));
      };
      await Promise.all(Array.from({ length: availableParallelism() }, work));
      const count = results.reduce((sum, one) => sum + one.count, 0);
      const survivors = results.flatMap((one) => one.survivors);
      console.info(`${profile.name}: ${count - survivors.length} of ${count} mistakes noticed`);
      expect(count).toBeGreaterThan(200);
      expect(survivors.length, survivors.join('\n')).toBeLessThanOrEqual((1 - WANTED) * count);
      if (survivors.length > 0) console.info(survivors.join('\n'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
