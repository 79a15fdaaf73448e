// Goal: wrong usage changes nothing and says what to do; commands that need a platform say that there is none.
// Method: the built binary, no platform running.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShell, type Shell } from './support/cli-run.ts';

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
});
afterAll(() => shell.remove());

describe('wrong usage ends with 2, says why on stderr, and starts nothing', () => {
  it.each([
    ['an unknown command', ['upp'], /Did you mean up/],
    ['an unknown service', ['up', 'paymnets'], /payments/],
    ['an unknown flag', ['up', '--replica', 'orders=2'], /--replicas/],
    ['replicas without a count', ['up', '--replicas', 'orders'], /orders=2|service=count/],
    ['no replicas', ['up', '--replicas', 'orders=0'], /orders=0/],
    ['replicas that are no number', ['up', '--replicas', 'orders=many'], /many/],
    ['replicas of an unknown service', ['up', '--replicas', 'ordrs=2'], /orders/],
    ['a wait that is not a number', ['up', '--wait-timeout', 'soon'], /soon/],
    ['an unknown component', ['up', '--provider', 'mysql=url'], /mysql/],
    ['an unknown instrumentation', ['up', '--instrumentation', 'auto'], /manual, stock/],
    ['stock in containers', ['up', '--instrumentation', 'stock', '--runtime', 'docker'], /--runtime process/],
    ['a project name with a slash', ['status', '--project', '../other'], /project name/],
    ['an unknown format', ['status', '--format', 'xml'], /xml/],
    ['an unknown shell', ['completion', 'tcsh'], /bash/],
  ])('%s', async (_what, args, says) => {
    const { code, stdout, stderr } = await shell.run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(shell.processes()).toEqual([]);
  });
});

describe('without a platform a command ends with 4 and names `shopctl up`', () => {
  it.each([
    ['status'],
    ['port', 'orders'],
    ['restart', 'orders'],
    ['stop', 'orders'],
    ['start', 'orders'],
    ['order', 'list'],
    ['counters', '--once'],
    ['verify'],
    ['audit'],
  ])('%s %s', async (...args) => {
    const { code, stdout, stderr } = await shell.run(...args.filter(Boolean));
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('shopctl up');
  });
});

it('down without a platform succeeds: nothing is running, as it was asked', async () => {
  const { code, stdout } = await shell.run('down', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ wasRunning: false, leftovers: 0 });
});

it('prints JSON alone on stdout', async () => {
  const { code, stdout } = await shell.run('doctor', '--json');
  expect([0, 3]).toContain(code);
  expect(Object.keys(JSON.parse(stdout)).length).toBeGreaterThan(0);
  expect(JSON.parse((await shell.run('version', '--json')).stdout)).toHaveProperty('shopctl');
});

it('prints help and version with 0', async () => {
  expect((await shell.run('--help')).stdout).toContain('up');
  expect((await shell.run('up', '--help')).stdout).toContain('--replicas');
  expect(await shell.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+\.\d+\.\d+/) });
});

it('setup finds everything it installed before', async () => {
  const { code } = await shell.run('setup', '--yes', '--json');
  expect(code).toBe(0);
});

/** A cache with everything that `up` needs and no k6, on a machine whose own k6 is too old and whose Go reaches nothing. */
async function withoutK6(): Promise<{ readonly folder: string; readonly env: Readonly<Record<string, string>> }> {
  const folder = await mkdtemp(join(tmpdir(), 'setup-'));
  const [programs, cache] = [join(folder, 'bin'), join(folder, 'cache', 'shopctl')];
  await Promise.all([programs, cache].map((path) => mkdir(path, { recursive: true })));
  const installed = shell.project().cacheDir;
  for (const name of await readdir(installed))
    if (/^(postgres|rabbitmq|toxiproxy)/.test(name)) await symlink(join(installed, name), join(cache, name));
  await writeFile(join(programs, 'k6'), '#!/bin/sh\necho "k6 v1.0.0 (go1.24)"\n', { mode: 0o755 });
  await writeFile(join(programs, 'go'), '#!/bin/sh\necho "no such host" >&2\nexit 1\n', { mode: 0o755 });
  return { folder, env: { PATH: `${programs}:${process.env.PATH}`, XDG_CACHE_HOME: join(folder, 'cache') } };
}

it('setup ends with 3 when what --with named is not available, and says what it lacks', async () => {
  const { folder, env } = await withoutK6();
  const poor = await openShell({ env });
  try {
    const { code, stdout, stderr } = await poor.run('setup', '--yes', '--with', 'k6', '--json');
    expect(code, stderr).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ notInstalled: ['k6'] });
    expect(stderr).toContain('no such host');
    expect(await poor.run('setup', '--yes')).toMatchObject({ code: 0 });
  } finally {
    await poor.remove();
    await rm(folder, { recursive: true, force: true });
  }
});

it.each(['bash', 'zsh', 'fish'])('completion for %s knows commands, and its own shell accepts it', async (name) => {
  const { code, stdout } = await shell.run('completion', name);
  expect(code).toBe(0);
  expect(stdout).toContain('restart');
  expect(stdout).toContain('shipping migrations');
  // Only bash is on every machine; the others check themselves where they are installed.
  if (existsSync(`/bin/${name}`)) execFileSync(`/bin/${name}`, ['-n'], { input: stdout });
});
