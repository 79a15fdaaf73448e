/*
 * Goal: wherever the supervisor is killed during a deploy, the next start has one release of the service, and the journal says which.
 * Method: the supervisor is killed as soon as a state is on disk; then `up`, and an order. The ledger is audited at the end. Each
 * kill ends the platform, so the nightly build runs it.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployJournalFile } from '../../cli/src/deploy/journal.ts';
import type { DeployList } from '../../cli/src/deploy/requests.ts';
import type { DeployState, JournalRecord, Strategy } from '../../cli/src/deploy/run.ts';
import type { PlatformState } from '../../cli/src/platform/state.ts';
import { expectBalancedAfterKills } from './support/audit.ts';
import { openShell, type Shell } from './support/cli-run.ts';
import { eventually } from './support/eventually.ts';

const REACHED_MS = 60_000;

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
  expect(await shell.run('up')).toMatchObject({ code: 0 });
});
afterAll(() => shell?.remove('shop'));

const state = async (): Promise<PlatformState> => JSON.parse((await shell.run('status', '--json')).stdout);

/** Resolves when the last deploy has been in this state. */
async function reached(wanted: DeployState, after: number): Promise<void> {
  await eventually(`a deploy to be ${wanted}`, { withinMs: REACHED_MS }, async () => {
    const lines = (await recordsOf()).slice(after);
    return lines.some((one) => one.kind === 'state' && one.state === wanted);
  });
}

async function recordsOf(): Promise<readonly JournalRecord[]> {
  const text = await readFile(deployJournalFile(shell.project()), 'utf8').catch(() => ''); // Before the first deploy.
  // The last line may be in the middle of being written.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JournalRecord);
}

/** Deploys payments, and kills the supervisor in the state. Resolves when the platform is up again. */
async function killedIn(wanted: DeployState, strategy: Strategy): Promise<void> {
  const { supervisor } = await state();
  const after = (await recordsOf()).length;
  const deploy = shell.start('deploy', 'payments', '--strategy', strategy, '--env', 'LOG_LEVEL=info', '--keep', '60s');
  const commands = [deploy];
  if (wanted === 'rolling-back' || wanted === 'done') {
    await reached('kept', after);
    commands.push(shell.start('deploy', wanted === 'done' ? 'promote' : 'abort'));
  }
  await reached(wanted, after);
  process.kill(supervisor.pid, 'SIGKILL');
  await Promise.all(commands.map(({ ended }) => ended));
  const { code, stderr } = await shell.run('up');
  expect(code, stderr).toBe(0);
}

/** The versions of payments that run, with what the journal says of the last deploy. */
async function found() {
  const { runs, releases }: DeployList = JSON.parse((await shell.run('deploy', 'history', '--json')).stdout);
  const last = runs.at(-1);
  const own = (await state()).instances.filter(({ service }) => service === 'payments');
  return { end: last?.state, to: last?.to, recorded: releases.payments, versions: own.map(({ version }) => version) };
}

async function expectConfirmed(): Promise<void> {
  const { code, stdout, stderr } = await shell.run('order', 'place', '--json');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Confirmed');
}

describe.each(['rolling', 'blue-green'] as const)('a %s deploy', (strategy) => {
  it.each(['building', 'preflight', 'shifting', 'kept', 'rolling-back'] as const)(
    'whose supervisor is killed while it is %s is rolled back',
    async (wanted) => {
      await killedIn(wanted, strategy);
      const { end, to, recorded, versions } = await found();
      expect(end).toBe('rolled-back');
      expect(recorded).toBeUndefined();
      expect(versions).toHaveLength(1);
      expect(versions).not.toContain(to);
      await expectConfirmed();
    },
  );
});

it('a deploy whose supervisor is killed after it is done is on its release', async () => {
  await killedIn('done', 'blue-green');
  const { end, to, recorded, versions } = await found();
  expect(end).toBe('done');
  expect(recorded).toBe(to);
  expect(versions).toEqual([to]);
  await expectConfirmed();
});

it('the ledger balances after all that', async () => {
  expectBalancedAfterKills(await shell.run('audit', '--json'));
});
