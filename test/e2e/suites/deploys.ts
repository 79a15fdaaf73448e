import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DeployRun } from '../../../cli/src/deploy/run.ts';
import type { RuntimeKind } from '../../../cli/src/platform/service-runtime.ts';
import type { PlatformState } from '../../../cli/src/platform/state.ts';
import { applyEdit } from '../../bench/releases/edited-sources.ts';
import { trialOf } from '../../bench/releases/trials.ts';
import { copyTree } from '../../support/clone-copy.ts';
import { expectBalancedAfterKills } from '../support/audit.ts';
import { openShell, type Shell } from '../support/cli-run.ts';
import { COSTLY_POLL_MS, eventually } from '../support/eventually.ts';
import { type OrderLoad, startOrderLoad } from '../support/order-load.ts';

/** Orders a second: as many as leave a small machine some CPU. */
const RATE = 10;
const STATE_MS = 120_000;
/** Without a failure for so long an overload is over. */
const SETTLED_MS = 3_000;
const FLAG = 'publish-order-confirmed-v2';

/** A good release is shown to be so within half a minute, and a bad one is found in the first step. */
const PLAN = `version: shop.deploy/v1
service: orders
strategy: canary
baseline: fresh
steps:
  - { weight: 20, requests: 10, for: 5s }
  - { weight: 50, requests: 100, for: 10s }
limit: 3m
analysis: { margin: 4% }
`;

/**
 * Deploys by each strategy under orders of both versions of the API, with the flag on by which events have two versions. No order fails, but for
 * those that a bad canary was given.
 */
export function testDeploys(runtime: RuntimeKind): void {
  let shell: Shell;
  let sources: string;
  let load: OrderLoad;
  let second: OrderLoad;

  beforeAll(async () => {
    shell = await openShell();
    sources = await mkdtemp(join(tmpdir(), 'shop-sources-'));
    await copyTree(sources);
    await writeFile(join(shell.home, 'plan.yaml'), PLAN);
    const up = await shell.run('up', '--runtime', runtime, '--replicas', 'orders=2');
    expect(up.code, up.stderr).toBe(0);
    expect((await shell.run('flags', 'on', FLAG)).code).toBe(0);
    const { gatewayUrl } = await state();
    load = startOrderLoad(gatewayUrl, { rate: RATE / 2 });
    // A field of a release that is not there yet, which no replica may refuse.
    second = startOrderLoad(gatewayUrl, { rate: RATE / 2, path: '/api/v2/orders', fields: { giftWrap: true } });
    await Promise.all([load.whenPlaced(), second.whenPlaced()]);
  });
  // A deploy does not begin in an overload: its guards would see it.
  beforeEach(() =>
    eventually(
      'the platform to serve all orders',
      { withinMs: STATE_MS, everyMs: SETTLED_MS, seen: state },
      async () => {
        return (await takeFailed()).length === 0 && (await state()).status === 'ready';
      },
    ),
  );
  afterAll(async () => {
    await Promise.all([load?.stop(), second?.stop()]);
    await rm(sources, { recursive: true, force: true });
    await shell?.remove();
  });

  const state = async (): Promise<PlatformState> => JSON.parse((await shell.run('status', '--json')).stdout);
  const versionsOf = async (service: string) =>
    (await state()).instances.filter((one) => one.service === service).map(({ version }) => version);

  /** What failed since the last call. */
  async function takeFailed(): Promise<readonly string[]> {
    const [first, other] = await Promise.all([load.take(), second.take()]);
    return [...first.unexpected, ...other.unexpected];
  }

  async function deploy(code: number, ...args: readonly string[]): Promise<DeployRun> {
    const ended = await shell.run('deploy', ...args, '--json');
    expect(ended.code, ended.stdout + ended.stderr).toBe(code);
    return JSON.parse(ended.stdout) as DeployRun;
  }

  /** The sources with the edits of a bad release of the benchmark, while `work` goes on. */
  async function withBadSources<T>(id: string, work: () => Promise<T>): Promise<T> {
    const { edits } = trialOf(id);
    const before = await Promise.all(edits.map(({ file }) => readFile(join(sources, file), 'utf8')));
    for (const [index, edit] of edits.entries())
      await writeFile(join(sources, edit.file), applyEdit(before[index] as string, edit));
    try {
      return await work();
    } finally {
      for (const [index, { file }] of edits.entries()) await writeFile(join(sources, file), before[index] as string);
    }
  }

  it('a canary is promoted, and no order of either version fails in the mixed fleet', async () => {
    const run = await deploy(
      0,
      ...['orders', '--strategy', 'canary', '--plan', join(shell.home, 'plan.yaml')],
      ...['--env', 'LOG_LEVEL=info', '--keep', '5s'],
    );
    expect(run).toMatchObject({ state: 'done' });
    expect(run.weights?.map(({ reason, share }) => [reason, share])).toEqual([
      ['step', 0.2],
      ['step', 0.5],
      ['promoted', 0.95],
    ]);
    expect(run.verdicts?.at(-1)?.verdict.canary.requests).toBeGreaterThanOrEqual(100);
    expect(await takeFailed()).toEqual([]);
    expect(await versionsOf('orders')).toEqual([run.to, run.to]);
    const traces = (await shell.run('deploy', 'report', run.id)).stdout;
    expect(traces).toMatch(/[1-9]\d* traces of customers as their contract/);
  });

  it('a canary that fails for a fifth of the customers is rolled back by test E', async () => {
    const before = await versionsOf('orders');
    const run = await withBadSources('errors-20', () =>
      deploy(
        1,
        ...['orders', '--dir', sources, '--strategy', 'canary', '--plan', join(shell.home, 'plan.yaml')],
        ...['--keep', '0ms'],
      ),
    );
    expect(run).toMatchObject({ state: 'rolled-back', cause: { kind: 'worse' }, isDirty: false });
    const failed = await takeFailed();
    expect(failed.filter((outcome) => !outcome.startsWith('new: 500'))).toEqual([]);
    expect(failed.length).toBeLessThan(run.verdicts?.at(-1)?.verdict.canary.requests ?? 0);
    expect(await versionsOf('orders')).toEqual(before);
  });

  it('a release that loses orders as it ends is not deployed, and no order of a client is lost', async () => {
    const before = await versionsOf('orders');
    const run = await withBadSources('no-drain', () => deploy(1, 'orders', '--dir', sources, '--keep', '0ms'));
    expect(run).toMatchObject({ state: 'rolled-back', isDirty: false });
    // Whichever sees the lost orders first: who has placed them, or the connections of their callers.
    expect(['drain', 'attempts']).toContain(run.cause?.guard);
    expect(await takeFailed()).toEqual([]);
    expect(await versionsOf('orders')).toEqual(before);
  });

  it.each(['payments', 'catalog', 'stock', 'shipping'])('a rolling deploy of %s loses no order', async (service) => {
    const run = await deploy(0, service, '--env', 'LOG_LEVEL=info', '--keep', '0ms');
    expect(run.steps.some(({ text }) => /ended with 6 orders in flight, and lost none|-\d ended/.test(text))).toBe(
      true,
    );
    expect(await takeFailed()).toEqual([]);
    expect(await versionsOf(service)).toEqual([run.to]);
  });

  it('all calls go to a second set and back again, and no order fails', async () => {
    const before = await versionsOf('orders');
    const following = shell.start('deploy', 'orders', '--strategy', 'blue-green', '--keep', '10m', '--json');
    await eventually('the second set to have all calls', { withinMs: STATE_MS, everyMs: COSTLY_POLL_MS }, async () => {
      const { stdout } = await shell.run('deploy', 'status', '--json');
      return (JSON.parse(stdout) as DeployRun).state === 'kept';
    });
    expect(await takeFailed()).toEqual([]);
    expect(await versionsOf('orders')).toHaveLength(2 * before.length);
    expect((await shell.run('deploy', 'abort')).code).toBe(0);
    expect((await following.ended).code).toBe(1);
    expect(await takeFailed()).toEqual([]);
    expect(await versionsOf('orders')).toEqual(before);
  });

  it('a release of shipping would do what shipping does', async () => {
    const run = await deploy(0, 'shipping', '--strategy', 'shadow', '--env', 'LOG_LEVEL=warn', '--keep', '10s');
    expect(run).toMatchObject({ state: 'compared', isDirty: false });
    expect(await takeFailed()).toEqual([]);
  });

  it('an image is deployed in containers, and nowhere else', async () => {
    const before = await versionsOf('catalog');
    if (runtime === 'process') {
      const { code, stderr } = await shell.run('deploy', 'catalog', '--image', 'shop/catalog:dev');
      expect([code, stderr]).toEqual([2, expect.stringContaining('shopctl up --runtime docker')]);
      expect(await versionsOf('catalog')).toEqual(before);
      return;
    }
    for (const [image, code, said] of [
      ['shop/catalog:none', 3, 'the engine has no image shop/catalog:none'],
      ['shop/stock:dev', 2, 'is an image of stock, not of catalog'],
      ['node:24-slim', 2, 'does not say what it is'],
    ] as const) {
      const refused = await shell.run('deploy', 'catalog', '--image', image);
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(said)]);
    }
    const build = await shell.run('build', 'catalog', '--tag', 'given', '--force');
    expect(build.code, build.stderr).toBe(0);
    const run = await deploy(0, 'catalog', '--image', 'shop/catalog:given', '--keep', '0ms');
    expect(run).toMatchObject({ state: 'done', source: 'shop/catalog:given' });
    expect(run.to).toMatch(/^\d+\.\d+\.\d+-i[0-9a-f]{8}$/);
    expect(await versionsOf('catalog')).toEqual([run.to]);
    expect(await takeFailed()).toEqual([]);
  });

  it('the ledger balances after all that', async () => {
    await Promise.all([load.stop(), second.stop()]);
    expectBalancedAfterKills(await shell.run('audit', '--json'));
  });
}
