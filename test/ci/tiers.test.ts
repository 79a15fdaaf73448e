/*
 * Goal: no test file is in no tier, or in two, and none changes a process that it shares.
 * Method: the files that Vitest finds in each tier, their text, and what the nightly build names.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

const run = promisify(execFile);
const list = [join(cloneRoot(), 'node_modules/vitest/vitest.mjs'), 'list', '--filesOnly'];

/** `[project] path` of each file. */
async function filesOf(tier?: string): Promise<readonly string[]> {
  // `npm run verify` leaves out what needs servers; the tiers have it.
  const { WITHOUT_SERVERS: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, list, { cwd: cloneRoot(), env: { ...env, TEST_TIER: tier } });
  return stdout.split('\n').filter((line) => line.startsWith('['));
}

it('the first and the second tier and what the nightly build names are all test files, each once', {
  timeout: 120_000,
}, async () => {
  const [first, second, both, all] = await Promise.all([
    filesOf('first'),
    filesOf('second'),
    filesOf('all'),
    filesOf(),
  ]);
  expect(all.length).toBeGreaterThan(300);
  expect([...first, ...second].toSorted()).toEqual(both.toSorted());
  const textOf = (file: string) => readFile(join(cloneRoot(), file), 'utf8');
  const fileOf = (name: string) => `test/e2e/${name}.e2e.test.ts`;
  const nightly = ['deploy-killed', 'deploys', 'drills', 'schema-releases'].map(fileOf);
  const script = await textOf('.ci/nightly');
  for (const file of nightly) expect(script).toContain(`vitest run --project e2e ${file}\n`);
  const inContainers = ['docker-deploy-killed', 'docker-deploys', 'docker-schema-releases'].map(fileOf);
  const ofDocker = await textOf('.ci/docker');
  for (const file of inContainers) expect(ofDocker).toContain(` ${file}`);
  const named = [...nightly.map((file) => `[e2e] ${file}`), ...inContainers.map((file) => `[e2e-alone] ${file}`)];
  expect([...both, ...named].toSorted()).toEqual(all.toSorted());
  const slow = ['audit/audit', 'load/post-run', 'providers/rabbitmq'].map(
    (one) => `[units] cli/src/${one}.integration.test.ts`,
  );
  expect(second).toEqual(expect.arrayContaining(slow));
  expect(second).toContain('[e2e-alone] test/e2e/chaos-subset.e2e.test.ts');
  expect(first).toContain('[e2e] test/e2e/application.e2e.test.ts');
});

const REPLACES_MODULES = /^vi\.(mock|doMock)\(/m;
/** Of the kit and services: what a library began under fake timers would never end for the next file. */
const CHANGES_LIBRARIES = /\b(useFakeTimers|setGlobal[A-Z]\w+)\(/;

it('a file of units that replaces modules, or what libraries keep for a process, has a separate one', {
  timeout: 120_000,
}, async () => {
  const all = await filesOf();
  const changing: string[] = [];
  for (const [project, path] of all.map((line) => line.split(' '))) {
    if (project !== '[units]' && project !== '[units-background]') continue;
    const text = await readFile(join(cloneRoot(), path as string), 'utf8');
    const hasLibraries = /^(kit|services|instrumentation)\//.test(path as string);
    if (REPLACES_MODULES.test(text) || (hasLibraries && CHANGES_LIBRARIES.test(text))) changing.push(path as string);
  }
  expect(all).toContain('[units-isolated] services/orders/src/publisher.test.ts');
  expect(all).toContain('[units] cli/src/output/width.test.ts');
  expect(changing).toEqual([]);
});
