/**
 * Whether the promtool tests would notice a mistake in a rule: each rule is changed in one place, and the tests of its alert
 * must fail. Prints what they do not notice, and ends with 1 where that is more than 5 %. Takes two minutes; names of alerts as
 * arguments limit it to them.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { type Profile, profiles } from '../../cli/src/slo/profiles.ts';
import type { Slo } from '../../cli/src/slo/slo.ts';
import { type Rules, ruleFile, rulesOf } from '../../dashboards/rule-files.ts';
import { rulesFor, ruleTestFile, scenarioFiles } from '../../dashboards/rule-tests.ts';
import type { ScenarioFile } from '../../dashboards/scenario.ts';
import { startGuard } from '../support/guard.ts';
import { type Groups, type Mutant, mutantsOf } from './mutations.ts';
import { hasPromtool, promtool } from './promtool.ts';

const WANTED = 0.95;

const root = new URL('../../', import.meta.url).pathname;
if (!hasPromtool) process.exit(3);
const slos = await readSlos(root);
const wanted = process.argv.slice(2);
for (const profile of Object.values(profiles)) await check(slos, profile);

async function check(slos: readonly Slo[], profile: Profile): Promise<void> {
  const rules = rulesOf(slos, profile);
  const files = scenarioFiles(slos, profile).filter(({ alert }) => wanted.length === 0 || wanted.includes(alert));
  if (files.length === 0) return console.info(`${profile.name}: no alert of these names`);
  const byAlert = Map.groupBy(files, ({ alert, burn }) => `${alert} ${burn ?? ''}`.trim());
  const folder = await mkdtemp(join(tmpdir(), 'shop-mutations-'));
  // Removes it also where this process is ended from outside.
  await using _ = startGuard(folder);
  const results: { readonly count: number; readonly survivors: readonly string[] }[] = [];
  const queue = byAlert.entries();
  const work = async () => {
    for (const [alert, files] of queue) {
      const [first] = files as [ScenarioFile];
      const mutants = mutantsOf(rulesFor(first, rules) as Groups, { rates: first.burn !== undefined });
      const survivors = await survivorsOf(mutants, files, { folder: join(folder, alert.replace(' ', '-')), profile });
      results.push({ count: mutants.length, survivors });
      console.info(`${profile.name}: ${alert}: ${mutants.length - survivors.length} of ${mutants.length} noticed`);
      for (const what of survivors) console.info(`  not noticed: ${what}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const count = results.reduce((sum, one) => sum + one.count, 0);
  const noticed = count - results.reduce((sum, one) => sum + one.survivors.length, 0);
  console.info(`${profile.name}: ${noticed} of ${count} mistakes noticed, ${((noticed / count) * 100).toFixed(1)} %`);
  if (noticed / count < WANTED) process.exitCode = 1;
}

/** Those that none of the alert's files notices. */
async function survivorsOf(
  mutants: readonly Mutant[],
  files: readonly ScenarioFile[],
  { folder, profile }: { readonly folder: string; readonly profile: Profile },
): Promise<readonly string[]> {
  if (mutants.length === 0) return [];
  await mkdir(join(folder, 'rules'), { recursive: true });
  const names = await Promise.all(
    mutants.flatMap(({ groups }, index) =>
      files.map(async (file) => {
        const name = `${index}-${file.name}.yaml`;
        const text = ruleTestFile(file, slos, profile).replace(`rules/${file.name}.yaml`, `rules/${name}`);
        await writeFile(join(folder, 'rules', name), ruleFile(groups as Rules['recording']));
        await writeFile(join(folder, name), text);
        return name;
      }),
    ),
  );
  const { text } = await promtool(['test', 'rules', ...names], folder);
  const passed = new Set([...text.matchAll(/Unit Testing: +(\S+)\n +SUCCESS/g)].map(([, name = '']) => name));
  return mutants
    .filter((_, index) => files.every((file) => passed.has(`${index}-${file.name}.yaml`)))
    .map(({ what }) => what);
}
