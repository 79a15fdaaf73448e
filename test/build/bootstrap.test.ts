// Goal: a newcomer's first command installs no packages that only an option needs.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-bootstrap-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('npm start installs every workspace but instrumentation/', async () => {
  await mkdir(join(folder, 'scripts'));
  await copyFile(join(cloneRoot(), 'scripts/bootstrap.mjs'), join(folder, 'scripts/bootstrap.mjs'));
  // An npm that says how it was called, and fails.
  const npm = join(folder, 'npm.js');
  await writeFile(npm, 'console.log(JSON.stringify(process.argv.slice(2)));\nprocess.exit(7);\n');
  const started = promisify(execFile)(process.execPath, ['scripts/bootstrap.mjs', 'start'], {
    cwd: folder,
    env: { ...process.env, npm_execpath: npm },
  });
  const failure = await started.then(
    () => undefined,
    (error: { code: number; stdout: string }) => error,
  );
  expect(failure?.code).toBe(7);
  const args = JSON.parse(failure?.stdout ?? '') as string[];
  expect(args.slice(0, 1)).toEqual(['ci']);
  expect(args).toContain('--include-workspace-root');
  const named = args.filter((_, index) => args[index - 1] === '--workspace');
  const { workspaces } = JSON.parse(await readFile(join(cloneRoot(), 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  const all = workspaces.map((pattern) => pattern.replace('/*', ''));
  expect(named.toSorted()).toEqual(all.filter((name) => name !== 'instrumentation').toSorted());
});
