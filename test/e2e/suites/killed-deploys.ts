import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployJournalFile } from '../../../cli/src/deploy/journal.ts';
import type { DeployList } from '../../../cli/src/deploy/requests.ts';
import type { DeployState, JournalRecord } from '../../../cli/src/deploy/run.ts';
import type { RuntimeKind } from '../../../cli/src/platform/service-runtime.ts';
import type { PlatformState } from '../../../cli/src/platform/state.ts';
import { expectBalancedAfterKills } from '../support/audit.ts';
import { openShell, type Shell } from '../support/cli-run.ts';
import { eventually } from '../support/eventually.ts';

const REACHED_MS = 90_000;

/** Nothing is known of a canary that gets no request: at the limit it is held, where that was asked for. */
const HELD_PLAN = `version: shop.deploy/v1
service: payments
strategy: canary
baseline: running
steps: [{ weight: 50, requests: 100, for: 1s }]
limit: 3s
analysis: { slow: { warm-up: 20 } }
`;

/** A deploy that is brought into a state, and killed there. */
interface Way {
  readonly service: 'payments' | 'shipping';
  /** Of `deploy`. */
  readonly options: readonly string[];
  /** What an operator does once the deploy is in a state. */
  readonly acts?: readonly (readonly [DeployState, 'promote' | 'abort'])[];
}

const payments = (strategy: string, ...acts: NonNullable<Way['acts']>): Way => ({
  service: 'payments',
  options: ['--strategy', strategy],
  acts,
});
const ofSets = (strategy: 'rolling' | 'blue-green'): [string, DeployState, Way][] => [
  [strategy, 'building', payments(strategy)],
  [strategy, 'preflight', payments(strategy)],
  [strategy, 'shifting', payments(strategy)],
  [strategy, 'kept', payments(strategy)],
  [strategy, 'rolling-back', payments(strategy, ['kept', 'abort'])],
];
const held: Way = { service: 'payments', options: ['--strategy', 'canary', '--on-inconclusive', 'hold'] };

/** Each state in which a deploy has something to lose, by strategy. */
const ways: readonly [string, DeployState, Way][] = [
  ...ofSets('rolling'),
  ...ofSets('blue-green'),
  ['canary', 'preflight', payments('canary')],
  ['canary', 'analysis', payments('canary')],
  ['canary', 'held', held],
  ['canary', 'shifting', payments('canary', ['analysis', 'promote'])],
  ['canary', 'kept', payments('canary', ['analysis', 'promote'])],
  ['canary', 'rolling-back', payments('canary', ['analysis', 'abort'])],
  ['shadow', 'comparing', { service: 'shipping', options: ['--strategy', 'shadow'] }],
];

/**
 * Wherever the supervisor is killed during a deploy, the next start has one release of the service, and the journal says which. The
 * supervisor is killed as soon as a state is on disk; then `up`, and an order. The ledger is audited at the end.
 */
export function testKilledDeploys(runtime: RuntimeKind): void {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell();
    await writeFile(join(shell.home, 'held.yaml'), HELD_PLAN);
    await up();
  });
  afterAll(() => shell?.remove());

  async function up(): Promise<void> {
    const { code, stderr } = await shell.run('up', '--runtime', runtime);
    expect(code, stderr).toBe(0);
  }

  const state = async (): Promise<PlatformState> => JSON.parse((await shell.run('status', '--json')).stdout);

  /** Resolves when the last deploy has been in this state. */
  async function reached(wanted: DeployState, after: number): Promise<void> {
    const lines = async () => (await recordsOf()).slice(after);
    await eventually(`a deploy to be ${wanted}`, { withinMs: REACHED_MS, seen: lines }, async () => {
      return (await lines()).some((one) => one.kind === 'state' && one.state === wanted);
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

  /** Deploys, and kills the supervisor in the state. Resolves when the platform is up again. */
  async function killedIn(wanted: DeployState, { service, options, acts = [] }: Way): Promise<void> {
    const { supervisor } = await state();
    const after = (await recordsOf()).length;
    const plan = wanted === 'held' ? ['--plan', join(shell.home, 'held.yaml'), '--force'] : [];
    const more = ['--env', 'LOG_LEVEL=info', '--keep', '60s', ...plan];
    const commands = [shell.start('deploy', service, ...options, ...more)];
    for (const [when, act] of acts) {
      await reached(when, after);
      commands.push(shell.start('deploy', act));
    }
    await reached(wanted, after);
    process.kill(supervisor.pid, 'SIGKILL');
    await Promise.all(commands.map(({ ended }) => ended));
    await up();
  }

  /** The versions of the service that run, with what the journal says of the last deploy. */
  async function found(service: string) {
    const { runs, releases }: DeployList = JSON.parse((await shell.run('deploy', 'history', '--json')).stdout);
    const last = runs.at(-1);
    const own = (await state()).instances.filter((one) => one.service === service);
    return { end: last?.state, to: last?.to, recorded: releases[service], versions: own.map(({ version }) => version) };
  }

  async function expectConfirmed(): Promise<void> {
    const { code, stdout, stderr } = await shell.run('order', 'place', '--json');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('Confirmed');
  }

  it.each(ways)('a %s deploy whose supervisor is killed while it is %s is rolled back', async (_, wanted, way) => {
    await killedIn(wanted, way);
    const { end, to, recorded, versions } = await found(way.service);
    expect(end).toBe('rolled-back');
    expect(recorded).toBeUndefined();
    expect(versions).toHaveLength(1);
    expect(versions).not.toContain(to);
    await expectConfirmed();
  });

  describe('after it is done', () => {
    it.each([
      ['blue-green', payments('blue-green', ['kept', 'promote'])],
      ['canary', payments('canary', ['analysis', 'promote'], ['kept', 'promote'])],
    ])('a %s deploy is on its release', async (_, way) => {
      await killedIn('done', way);
      const { end, to, recorded, versions } = await found('payments');
      expect(end).toBe('done');
      expect(recorded).toBe(to);
      expect(versions).toEqual([to]);
      await expectConfirmed();
      expect((await shell.run('deploy', 'unpin', 'payments')).code).toBe(0);
    });
  });

  it('the ledger balances after all that', async () => {
    expectBalancedAfterKills(await shell.run('audit', '--json'));
  });
}
