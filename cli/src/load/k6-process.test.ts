import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../process/process-identity.ts';
import { startK6 } from './k6-process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'k6-process-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A program in place of k6. */
async function aProgram(script: string): Promise<string> {
  const file = join(await mkdtemp(join(folder, 'program-')), 'k6');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

const settings = { rate: 7, durationS: 10, vus: 5, hasFault: true };

async function start(script: string) {
  const own = await mkdtemp(join(folder, 'run-'));
  const running = await startK6({
    program: await aProgram(script),
    root: folder,
    folder: own,
    scenario: 'steady',
    settings,
    variables: { SHOP_CONNECTIONS: 'new' },
    seed: 3,
    runId: 'load-1',
    gatewayUrl: 'http://127.0.0.1:1',
    htmlFile: '/report.html',
  });
  return { running, own };
}

describe('k6', () => {
  it('is given the scenario and its settings, and nothing of the environment that would change them', async () => {
    process.env.K6_VUS = '1000';
    const { running, own } = await start('env >"$HOME/env"; echo "$@" >"$HOME/arguments"');
    delete process.env.K6_VUS;
    expect(await running.ended).toBe(0);
    const env = await readFile(join(own, 'env'), 'utf8');
    for (const line of [
      'SHOP_RATE=7',
      'SHOP_DURATION_S=10',
      'SHOP_SEED=3',
      'SHOP_FAULT=1',
      'SHOP_RUN=load-1',
      'SHOP_CONNECTIONS=new',
    ])
      expect(env).toContain(`${line}\n`);
    expect(env).toContain('K6_WEB_DASHBOARD_EXPORT=/report.html');
    expect(env).not.toContain('K6_VUS');
    expect(await readFile(join(own, 'arguments'), 'utf8')).toContain(join(folder, 'scenarios', 'steady.ts'));
  });

  it('reports how it ended, and what it printed', async () => {
    const { running } = await start('echo "GoError: no such file" >&2; exit 107');
    expect(await running.ended).toBe(107);
    expect(await running.messages()).toBe('GoError: no such file');
  });

  it('is ended immediately', async () => {
    const { running } = await start('exec sleep 60');
    await running.stop();
    expect(await isAlive(running.process)).toBe(false);
    expect(await running.ended).toBe(130);
  });
});
