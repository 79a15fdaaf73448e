/*
 * Goal: a deploy is reported from what is on disk, whether or not its platform runs.
 * Method: a project's folder with a journal and samples, and no platform.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { aCanary, aRollingDeploy } from '../../deploy/report/testing/a-canary.ts';
import { createOutput } from '../../output/output.ts';
import { cloneRoot, openProject, type Project } from '../../platform/project.ts';
import { runDeployReport } from './run-deploy-report.ts';

let home: string;
let project: Project;
let printed: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-report-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
  printed = '';
});
afterEach(() => rm(home, { recursive: true }));

function deps(format: 'text' | 'json' = 'text'): CommandDeps {
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  output.use(format);
  return { output, projectFrom: () => project } as unknown as CommandDeps;
}

const linesOf = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

async function store(): Promise<void> {
  const { records, samples } = aCanary('c0ffee00', { canaryBad: 0.2 });
  await mkdir(join(project.stateDir, 'deploys'), { recursive: true });
  await writeFile(join(project.stateDir, 'deploys.jsonl'), linesOf([...records, ...aRollingDeploy('0ddba11a')]));
  await writeFile(join(project.stateDir, 'deploys/c0ffee00.jsonl'), linesOf(samples));
}

it('prints Markdown of the last deploy', async () => {
  await store();
  await runDeployReport(undefined, {}, deps());
  expect(printed).toContain('Run 0ddba11a, rolling');
});

it('writes the files that are named, of the deploy with this beginning of an id', async () => {
  await store();
  const [junit, markdown] = [join(home, 'deploy.xml'), join(home, 'deploy.md')];
  await runDeployReport('c0f', { junit, markdown }, deps('json'));
  expect(JSON.parse(printed)).toMatchObject({
    run: { id: 'c0ffee00', state: 'rolled-back' },
    arms: [{ arm: 'stable' }, { arm: 'canary' }],
    written: [junit, markdown],
  });
  expect(await readFile(junit, 'utf8')).toContain('<testsuite name="deploy of orders 0.2.0-g2"');
  expect(await readFile(markdown, 'utf8')).toContain('## Deploy of orders 0.2.0-g2: rolled-back');
});

it.each([
  ['one that is unknown', 'abc', 'there is no deploy "abc"'],
  ['a beginning of two', '', '2 deploys have an id that begins with ""'],
])('refuses %s', async (_title, id, what) => {
  await store();
  await expect(runDeployReport(id, {}, deps())).rejects.toMatchObject({ code: 'no_deploy', exitCode: 2, what });
});

it('refuses a project in which nothing was deployed, and a file that cannot be written', async () => {
  await expect(runDeployReport(undefined, {}, deps())).rejects.toMatchObject({ what: 'nothing was deployed yet' });
  await store();
  const junit = join(home, 'nowhere', 'deploy.xml');
  await expect(runDeployReport(undefined, { junit }, deps())).rejects.toMatchObject({ code: 'report_not_writable' });
});
