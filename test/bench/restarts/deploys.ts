/** Deploys in place of restarts: the sources of the clone each time, as another release. */
import { setTimeout as delay } from 'node:timers/promises';
import { createDeployClient, type DeployClient } from '../../../cli/src/deploy/deploy-client.ts';
import type { DeployRun, Strategy } from '../../../cli/src/deploy/run.ts';
import { askedFrom } from '../../../cli/src/platform/change-log.ts';
import { createControlClient } from '../../../cli/src/platform/control-client.ts';
import type { Project } from '../../../cli/src/platform/project.ts';
import { waitUntil } from '../../../cli/src/shared/wait-until.ts';
import type { TraceBackend } from '../../../cli/src/trace/backend.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { lastServedMs, type Served, type Switch } from './switches.ts';

/** What a deploy is measured with: a canary waits for its plan, and a shadow replaces nothing. */
export const deployStrategies = ['rolling', 'blue-green'] as const satisfies readonly Strategy[];
export type DeployStrategy = (typeof deployStrategies)[number];

export interface Deploys {
  readonly strategy: DeployStrategy;
  /** An order of our own client has its response. */
  onOrder(record: OrderRecord): void;
  /** Resolves when the release runs, and rejects with why it does not. A second set gets all calls, loses them, and gets them again. */
  deploy(service: string): Promise<void>;
  /** Of the deploys of a service so far. */
  switches(service: string): readonly Switch[];
}

const KEPT_LIMIT_MS = 180_000;
/** Longer than a second set is watched before it loses its calls, or has them for good. */
const LONG_MS = 3_600_000;
/** Orders are looked at until so long after a switch, ms. */
const LOOK_MS = 1_500;
/** Spans are exported once a second at the latest. */
const EXPORTED_MS = 1_500;

export function createDeploys(
  strategy: DeployStrategy,
  { project, telemetry }: { readonly project: Project; readonly telemetry: TraceBackend },
): Deploys {
  const client = createDeployClient(project);
  const orders: OrderRecord[] = [];
  const switches = new Map<string, Switch[]>();
  let count = 0;

  async function begin(service: string, keepMs: number): Promise<DeployRun> {
    count += 1;
    return client.start({
      service,
      strategy,
      // The same bundles under another version.
      env: { BENCH_DEPLOY: String(count) },
      keepMs,
      asked: askedFrom('command line'),
    });
  }

  async function namesOf(service: string): Promise<readonly string[]> {
    const { instances } = await createControlClient(project).state();
    return instances.filter((one) => one.service === service).map(({ name }) => name);
  }

  /** Which instances served the orders about this time. */
  async function servedAbout(service: string, at: number): Promise<readonly Served[]> {
    await waitUntil(
      'orders after the switch',
      KEPT_LIMIT_MS,
      () => (orders.at(-1)?.at ?? 0) > at + LOOK_MS || undefined,
    );
    await delay(EXPORTED_MS);
    const near = orders.filter((order) => order.at > at - LOOK_MS && order.at < at + LOOK_MS);
    const ids = near.flatMap(({ traceId }) => traceId ?? []);
    const traces = await Promise.all(ids.map((id) => telemetry.trace(id)));
    return traces
      .flatMap(({ spans }) => spans)
      .filter((span) => span.service === service && span.kind === 'server')
      .map(({ instance, startNanos }) => ({ instance, at: Number(startNanos) / 1e6 }));
  }

  async function noteSwitch(
    service: string,
    run: DeployRun,
    { way, left, asked }: { way: Switch['way']; left: readonly string[]; asked?: number },
  ): Promise<void> {
    const step = run.steps.findLast(({ text }) => text.startsWith('point all callers at'));
    const at = Date.parse(step?.time ?? '');
    if (Number.isNaN(at)) throw new Error('the journal has no switch');
    const served = await servedAbout(service, at);
    const own = switches.get(service) ?? [];
    switches.set(service, own);
    own.push({
      way,
      lastMs: lastServedMs(served, { left, at }),
      ...(asked !== undefined && { sinceAskedMs: lastServedMs(served, { left, at: asked }) }),
    });
  }

  async function thereAndBack(service: string): Promise<void> {
    const old = await namesOf(service);
    const first = await keptOf(client, await begin(service, LONG_MS));
    const fresh = (await namesOf(service)).filter((name) => !old.includes(name));
    await noteSwitch(service, first, { way: 'there', left: old });
    const asked = Date.now();
    const back = await client.act('abort');
    if (back.state !== 'rolled-back' || back.isDirty) throw new Error(`${back.state}: ${back.cause?.text}`);
    await noteSwitch(service, back, { way: 'back', left: fresh, asked });
  }

  return {
    strategy,
    onOrder: (record) => void orders.push(record),
    async deploy(service) {
      if (strategy === 'blue-green') await thereAndBack(service);
      const { id } = await begin(service, 0);
      const { state, cause } = await client.follow(id, () => undefined);
      if (state !== 'done') throw new Error(`${state}: ${cause?.text ?? 'why is not known'}`);
    },
    switches: (service) => switches.get(service) ?? [],
  };
}

async function keptOf(client: DeployClient, { id }: DeployRun): Promise<DeployRun> {
  return waitUntil('the second set to have all calls', KEPT_LIMIT_MS, async () => {
    const { runs, current } = await client.list();
    const run = runs.find((one) => one.id === id);
    if (run?.state === 'kept') return run;
    if (current !== id) throw new Error(`${run?.state}: ${run?.cause?.text ?? 'why is not known'}`);
    return undefined;
  });
}
