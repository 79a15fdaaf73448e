/** A platform with two replicas of orders under load, on which releases are deployed one after the other. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type MixedLoad, startMixedLoad } from '../../../cli/src/alert-matrix/mixed-load.ts';
import { createDeployJournal } from '../../../cli/src/deploy/journal.ts';
import type { DeployRun } from '../../../cli/src/deploy/run.ts';
import { samplesFolder } from '../../../cli/src/deploy/samples.ts';
import { connectPlatform, type PlatformConnection } from '../../../cli/src/platform/connection.ts';
import { cloneRoot, openProject, type Project } from '../../../cli/src/platform/project.ts';
import { systemClock } from '../../../cli/src/shared/clock.ts';
import { startOpenLoop } from '../../../cli/src/shared/open-loop.ts';
import { unless } from '../../../cli/src/shared/unless.ts';
import { pollFor } from '../../../cli/src/shared/wait-until.ts';
import { createGatewayClient } from '../../../cli/src/shop/gateway-client.ts';
import { warmUp } from '../../../cli/src/shop/warm-up.ts';
import { confirmedOrder, mixedOrder } from '../../../scenarios/lib/order-mix.ts';
import { startGuard } from '../../support/guard.ts';
import { copyEdited } from './edited-sources.ts';
import type { RowRecord } from './journal.ts';
import { outcomeOf } from './outcome.ts';
import { planOf, type Trial } from './trials.ts';

const run = promisify(execFile);
const PROJECT = 'bench-releases';
const SERVICE = 'orders';
/** A rollout of a row takes less, builds included. */
const SHARE_LIMIT_MS = 240_000;
const SHARE_POLL_MS = 250;
const SEED = 1;
const WARM_UP = { customer: 'Load scenario', quickMs: 100, mostOrders: 200 };
/** The level of errors before a rollout needs 20 requests. */
const CALM_MS = 3_000;
const READ_LIMIT_MS = 12_000;
const MAX_OUTPUT_BYTES = 2 ** 26;

export interface Place extends AsyncDisposable {
  play(id: string, trial: Trial): Promise<RowRecord>;
}

/** Starts the platform, in a temporary folder; both are ended and removed, also when this process is killed. */
export async function openPlace({
  rate,
  hasFaults,
  samples,
  say,
}: {
  readonly rate: number;
  /** Rows have faults that need failpoints. */
  readonly hasFaults: boolean;
  /** The folder for what was seen of each canary, a file for each rollout: it explains a row that is not as it has to be. */
  readonly samples: string;
  say(line: string): void;
}): Promise<Place> {
  const root = cloneRoot();
  const home = await mkdtemp(join(tmpdir(), 'shop-bench-releases-'));
  const env = {
    ...process.env,
    SHOPCTL_HOME: home,
    SHOPCTL_PROBE: 'off',
    NO_COLOR: '1',
    ...(hasFaults && { SHOPCTL_FAILPOINTS: '1' }),
  };
  const shopctl = join(root, 'cli/bin/shopctl');
  const words = ['--project', PROJECT];
  const guard = startGuard(home, [shopctl, 'down', '--volumes', ...words], env);
  try {
    say('starting a platform with two replicas of orders');
    await run(shopctl, ['up', '--replicas', `${SERVICE}=2`, ...words], { env });
    const project = openProject(PROJECT, root, env);
    const connection = await connectPlatform(project, env);
    await warmUp(createGatewayClient(connection.gatewayUrl), WARM_UP, new AbortController().signal);
    const call = (...args: readonly string[]) => callShopctl(shopctl, [...args, ...words], env);
    await mkdir(samples, { recursive: true, mode: 0o700 });
    return {
      play: (id, trial) => play(id, trial, { root, home, rate, samples, project, connection, call }),
      [Symbol.asyncDispose]: () => guard[Symbol.asyncDispose](),
    };
  } catch (error) {
    await guard[Symbol.asyncDispose]();
    throw error;
  }
}

interface Surroundings {
  readonly root: string;
  readonly home: string;
  readonly rate: number;
  readonly samples: string;
  readonly project: Project;
  readonly connection: PlatformConnection;
  call(...args: readonly string[]): Promise<Said>;
}

interface Said {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function play(id: string, trial: Trial, at: Surroundings): Promise<RowRecord> {
  const { root, home, rate, samples, project, connection, call } = at;
  const { service = SERVICE, strategy = 'canary', keepS = 0, fault } = trial;
  const plan = join(home, `${trial.id}.yaml`);
  await writeFile(plan, planOf(trial));
  const sources = trial.edits.length > 0 ? await copyEdited(service, { root, parent: home }, trial.edits) : undefined;
  const startedAt = systemClock.date().toISOString();
  const load = startLoad(`${id}-${startedAt}`, rate, connection.gatewayUrl);
  const over = new AbortController();
  try {
    await systemClock.sleep(CALM_MS, new AbortController().signal);
    const from = sources === undefined ? [] : ['--dir', sources];
    const canary = strategy === 'canary' ? ['--plan', plan, '--force'] : [];
    const how = ['--strategy', strategy, ...canary, '--keep', `${keepS}s`, '--json'];
    const [said] = await Promise.all([
      call('deploy', service, ...from, ...how).finally(() => over.abort()),
      fault && injectAtShare(fault, { startedAt, signal: over.signal }, at),
    ]);
    await load.stop();
    if (said.stdout === '') throw new Error(`deploy ended with ${said.exitCode}: ${said.stderr.slice(-2_000)}`);
    const done = JSON.parse(said.stdout) as DeployRun;
    const records = await createDeployJournal(project, () => undefined).read();
    // What follows begins with what the clone has built.
    if (done.state === 'done') await succeed(call, 'deploy', 'unpin', service);
    const seen = `${done.id}.jsonl`;
    // One that got no share was not seen.
    const copied = copyFile(join(samplesFolder(project), seen), join(samples, `${trial.id}-${seen}`));
    await copied.catch(unless('ENOENT'));
    const { sent, late } = load.orders.sent;
    return { type: 'row', id, startedAt, ...outcomeOf(done, records, load.orders.outcomes), sent, late };
  } finally {
    over.abort();
    await load.stop();
    if (fault !== undefined) await succeed(call, 'chaos', 'clear', '--all');
    if (sources !== undefined) await rm(sources, { recursive: true, force: true });
  }
}

/** Injects a fault once the release has its first share; never, where that is over before. */
async function injectAtShare(
  fault: readonly string[],
  { startedAt, signal }: { readonly startedAt: string; readonly signal: AbortSignal },
  { project, call }: Surroundings,
): Promise<void> {
  const hasShare = async () => {
    const records = await createDeployJournal(project, () => undefined).read();
    return records.some(({ kind, time }) => kind === 'weights' && time >= startedAt) || undefined;
  };
  const shared = await pollFor(hasShare, { everyMs: SHARE_POLL_MS, limitMs: SHARE_LIMIT_MS, signal }).catch((error) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (shared !== undefined) await succeed(call, 'chaos', 'inject', ...fault, '--ttl', '10m');
}

/** Orders at a rate, and reads of those that were placed last at the same rate. */
function startLoad(
  name: string,
  rate: number,
  gatewayUrl: string,
): { readonly orders: MixedLoad; stop(): Promise<void> } {
  // Invalid orders are rejected by both arms, which counts as bad: then a margin is shown much later.
  const bodyOf = (index: number) => {
    const order = mixedOrder(SEED, name, index);
    return (order.kind === 'invalid' ? confirmedOrder(SEED, name, index) : order).body;
  };
  const orders = startMixedLoad({ gatewayUrl, rate, seed: SEED, name, clock: systemClock, bodyOf });
  const over = new AbortController();
  const reads = startOpenLoop({
    clock: systemClock,
    signal: over.signal,
    gapMs: () => 1_000 / rate,
    async send() {
      const { id } = orders.outcomes.at(-1) ?? {};
      if (id === undefined) return;
      // What a read comes to is counted by the gateway; the orders of customers are counted here.
      await fetch(`${gatewayUrl}/api/orders/${id}`, { signal: AbortSignal.timeout(READ_LIMIT_MS) })
        .then((response) => response.arrayBuffer())
        .catch(() => undefined);
    },
  });
  return {
    orders,
    async stop() {
      over.abort();
      await Promise.all([orders.stop(), reads.done]);
    },
  };
}

async function succeed(call: Surroundings['call'], ...args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await call(...args);
  if (exitCode !== 0) throw new Error(`shopctl ${args.join(' ')} ended with ${exitCode}: ${stderr.slice(-2_000)}`);
}

/** Resolves whatever its exit code: a release that is rolled back ends with 1. */
function callShopctl(shopctl: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  return new Promise((resolve, reject) => {
    execFile(shopctl, [...args], { env, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}
