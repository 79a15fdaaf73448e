/*
 * Goal: what a plan takes and finds is known before a rollout begins, and all mistakes of a plan are reported together.
 * Method: files of plans, and a platform that is never started.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { theDefaultPlan } from '../../deploy/analysis/testing/plan.ts';
import { createOutput } from '../../output/output.ts';
import { runDeployPlan } from './run-deploy-plan.ts';

let folder: string;
let printed: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-plan-'));
  printed = '';
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(folder, { recursive: true });
});

function deps(format: 'text' | 'json' = 'text'): CommandDeps {
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  output.use(format);
  return { output } as unknown as CommandDeps;
}

/** The example, as a file, with a change. */
async function aPlan(change: (text: string) => string = (text) => text): Promise<string> {
  await runDeployPlan(undefined, { rate: 50, errors: 0, example: true }, deps());
  const file = join(folder, 'plan.yaml');
  await writeFile(file, change(printed));
  printed = '';
  return file;
}

it('prints an example that is a plan, and says what it takes, finds, and promises', async () => {
  const file = await aPlan();
  await runDeployPlan(file, { rate: 50, errors: 0, runs: 20 }, deps());
  expect(printed).toContain(
    'a canary of orders, compared with a stable instance of the same age, at 50 requests a second',
  );
  expect(printed).toMatch(/^1 +1 % +20 +40\.0 s +its requests$/m);
  expect(printed).toContain('all steps: at least 1 min 52 s; the limit is 10 min 0 s, for which 8.4 requests a second');
  expect(printed).toMatch(/^0 %, as stable +0 % +100 % +0 %/m);
  expect(printed).toMatch(/^100 % +100 % +0 % +0 %/m);
  expect(printed).toContain('a good release is rolled back in at most 1 % (0.8 % for errors, 0.2 % for slowness)');
  expect(printed).toContain('a release that fails more often by 1 % or more is promoted in at most 5 %');
  expect(process.exitCode).toBeUndefined();
});

it('ends with 1 for a rate at which the requests cannot come, with the arithmetic', async () => {
  await runDeployPlan(await aPlan(), { rate: 2, errors: 0 }, deps());
  expect(printed).toContain('it cannot end: at 2 requests a second the steps take 1000 s at 1 %');
  expect(process.exitCode).toBe(1);
});

it('is JSON with the plan and all figures', async () => {
  const file = await aPlan();
  await runDeployPlan(file, { rate: 2, errors: 0 }, deps('json'));
  expect(JSON.parse(printed)).toMatchObject({ file, plan: theDefaultPlan, falseRollback: 0.01, outcomes: [] });
});

it('refuses a plan with each of its mistakes at its line and column', async () => {
  const file = await aPlan((text) => text.replace('weight: 5', 'weight: 1').replace('limit: 10m', 'limit: 10'));
  await expect(runDeployPlan(file, { rate: 50, errors: 0 }, deps())).rejects.toMatchObject({
    code: 'invalid_plan',
    exitCode: 2,
    why: expect.stringMatching(
      /^.*plan\.yaml:8:15 steps\[1\]\.weight: expected more than 1.*\n.*plan\.yaml:11:8 limit: .*got 10$/,
    ),
  });
});

it.each([
  ['a file that is not there', 'nothing.yaml', 'invalid_plan'],
  ['no file', undefined, 'invalid_argument'],
])('refuses %s', async (_title, file, code) => {
  await expect(runDeployPlan(file, { rate: 50, errors: 0 }, deps())).rejects.toMatchObject({ code, exitCode: 2 });
});
