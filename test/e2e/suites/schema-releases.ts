import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openProject } from '../../../cli/src/platform/project.ts';
import type { RuntimeKind } from '../../../cli/src/platform/service-runtime.ts';
import { type PlatformState, readState } from '../../../cli/src/platform/state.ts';
import { createAccountReader } from '../../../cli/src/trace/accounting.ts';
import { assertTrace } from '../../../cli/src/trace/assert.ts';
import { createBackend } from '../../../cli/src/trace/backend.ts';
import { expectedTree, loadContract } from '../../../cli/src/trace/contract.ts';
import { copyTree, linkPackages } from '../../support/clone-copy.ts';
import { type Guard, startGuard } from '../../support/guard.ts';
import { type OrderLoad, startOrderLoad } from '../support/order-load.ts';
import {
  checkOut,
  R1,
  R2,
  R3,
  R4,
  R4_CONTRACTED,
  readBase,
  type SchemaRelease,
  type SourceBase,
} from '../support/schema-releases.ts';

const PROJECT = 'e2e-schema';
const PLACED_MS = 30_000;
/** Spans are exported once a second at the latest. */
const SETTLE_MS = 1_000;
/** Requests a second: as many as leave a small machine some CPU. */
const RATE = 20;

/**
 * A column is replaced over four releases of orders without a failed request, back and forth, until the contract migration, after which there is
 * no way back. A copy of the repository is edited into each release. `up` brings it into a platform with two replicas, one after the other,
 * under orders and their repetitions. At each boundary the ledger is audited, and the trace of an order is compared with its contract.
 */
export function testSchemaReleases(runtime: RuntimeKind): void {
  let copy: string;
  let base: SourceBase;
  let guard: Guard;
  let env: NodeJS.ProcessEnv;
  let load: OrderLoad;

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'shop-schema-'));
    await copyTree(copy);
    await linkPackages(copy);
    base = await readBase(copy);
    env = { ...process.env, SHOPCTL_HOME: join(copy, '.shop'), SHOPCTL_PROJECT: PROJECT, NO_COLOR: '1' };
    // Removes the copy, too.
    guard = startGuard(copy, [join(copy, 'cli/bin/shopctl'), 'down', '--volumes'], env);
    expect(await shopctl('up', '--direct', '--runtime', runtime, '--replicas', 'orders=2')).toMatchObject({ code: 0 });
    load = startOrderLoad((await state()).gatewayUrl, { rate: RATE, repeats: true });
    await load.whenPlaced();
  });

  afterAll(async () => {
    await load?.stop();
    await guard?.[Symbol.asyncDispose]();
    await rm(copy, { recursive: true, force: true });
  });

  /** A failure is a code, not an exception. */
  function shopctl(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      execFile(join(copy, 'cli/bin/shopctl'), args, { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });
  }

  async function state(): Promise<PlatformState> {
    return (await readState(openProject(PROJECT, copy, env).stateFile)) as PlatformState;
  }

  async function replicas() {
    const { instances } = await state();
    return instances
      .filter(({ service }) => service === 'orders')
      .map(({ version, process }) => ({ version, process }));
  }

  /** Demands of what was sent since the last time, of the ledger, and of the trace of an order of this release. */
  async function expectClean(): Promise<void> {
    const { unexpected, trace } = await load.take();
    expect(unexpected).toEqual([]);
    await expectTrace(trace);
    const audit = await shopctl('audit');
    expect(audit.code, audit.stdout).toBe(0);
  }

  /** `trace assert` waits until no service has spans to send, which under load does not happen. */
  async function expectTrace(traceparent: string): Promise<void> {
    const backend = createBackend((await state()).telemetryUrl);
    const expected = expectedTree(await loadContract('confirmed', copy));
    const { verdict, explanation } = await assertTrace({
      backend,
      traceId: traceparent.split('-')[1] as string,
      expected,
      accounting: createAccountReader(backend),
      timeoutMs: PLACED_MS,
      settleMs: SETTLE_MS,
      underLoad: true,
    });
    expect(verdict, explanation).toBe('pass');
  }

  async function bringIn(release: SchemaRelease): Promise<void> {
    await checkOut(release, copy, base);
    const { code, stderr } = await shopctl('up', '--direct');
    expect(code, stderr).toBe(0);
    expect((await replicas()).map(({ version }) => version)).toEqual([release.version, release.version]);
  }

  it.each([
    ['R1 expands: both columns are written', R1],
    ['R2 reads the new one', R2],
    ['R3 stops writing the old one', R3],
    ['R3 goes back to R2', R2],
    ['R2 goes back to R1', R1],
    ['R1 goes forward to R2 again', R2],
    ['R2 goes forward to R3 again', R3],
  ])('%s, under load and without a failed request', async (_, release) => {
    await bringIn(release);
    await expectClean();
  });

  /** As a deploy that is done leaves it. */
  async function keepForRollback(from: string, to: string): Promise<void> {
    const releaseOf = (version: string) => ({ version, folder: `dist/releases/orders/${version}`, digest: version });
    await mkdir(join(copy, releaseOf(from).folder), { recursive: true });
    const lines = [
      { kind: 'planned', service: 'orders', strategy: 'rolling', source: 'HEAD', from, to, keepMs: 0 },
      { kind: 'releases', from: releaseOf(from), to: releaseOf(to) },
      { kind: 'state', state: 'done' },
    ].map((line) => `${JSON.stringify({ time: new Date().toISOString(), run: 'r3', ...line })}\n`);
    await appendFile(join(copy, '.shop', PROJECT, 'deploys.jsonl'), lines.join(''));
  }

  it('the contract migration is refused while R3 runs, and nothing is replaced', async () => {
    const before = await replicas();
    await checkOut({ ...R3, migrations: R4_CONTRACTED.migrations }, copy, base);
    const { code, stderr } = await shopctl('up', '--direct');
    expect(code).toBe(1);
    expect(stderr).toContain('the migration orders/0902_request_hash_removed is refused');
    expect(stderr).toContain('it requires orders >= 1.4.0, and orders 1.3.0 (orders-1) runs');
    expect(await replicas()).toEqual(before);
  });

  it('R4 contracts once R4 runs, but gives R3 up only at a point of no return', async () => {
    await bringIn(R4);
    await expectClean();
    await keepForRollback('1.3.0', '1.4.0');
    await checkOut(R4_CONTRACTED, copy, base);
    const refused = await shopctl('up', '--direct', '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr.trim().split('\n').at(-1) as string)).toMatchObject({
      error: {
        code: 'migration_refused',
        why: 'it requires orders >= 1.4.0, and orders 1.3.0 (dist/releases/orders/1.3.0) is kept and can come back',
        next: expect.stringContaining('--point-of-no-return'),
      },
    });
    expect(await shopctl('up', '--direct', '--point-of-no-return', '--reason', 'R4 is final')).toMatchObject({
      code: 0,
    });
    await expectClean();
    const { stdout } = await shopctl('changes', '--kind', 'point-of-no-return', '--json');
    expect(JSON.parse(stdout).changes).toMatchObject([
      {
        target: 'orders',
        from: 'orders 1.3.0 (dist/releases/orders/1.3.0)',
        to: '0902_request_hash_removed',
        reason: 'R4 is final',
      },
    ]);
  });

  it('R4 does not go back to R3, and says why', async () => {
    const before = await replicas();
    await checkOut(R3, copy, base);
    const { code, stderr } = await shopctl('up', '--direct');
    expect(code).toBe(1);
    expect(stderr).toContain('orders 1.3.0 (services/orders) cannot run on the database orders');
    expect(stderr).toContain('orders/0902_request_hash_removed was applied, and requires orders >= 1.4.0');
    expect(await replicas()).toEqual(before);
    await expectClean();
  });
}
