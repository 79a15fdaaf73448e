import type { Secrets } from '../../../cli/src/providers/secrets.ts';
import { databaseUrl } from '../../../cli/src/providers/urls.ts';
import { databaseNames } from '../../../cli/src/topology/databases.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type PlatformOptions, startPlatform, type TestPlatform } from '../../support/platform.ts';
import type { Shot } from '../measure/cases.ts';
import type { LoopResult } from '../measure/closed-loop.ts';
import { type CpuReading, cpuBetween, readCpu } from '../measure/cpu.ts';
import type { Worker } from '../measure/worker.ts';
import type { DatabaseUrls } from './databases.ts';
import type { Load } from './load-worker.ts';

/** How long the events of a shot may take to be shipped, in ms. */
const DRAIN_LIMIT_MS = 60_000;

/** A whole platform under the load tool. */
export interface Shop extends AsyncDisposable {
  readonly platform: TestPlatform;
  /** CPU so far, by process: each service, the components, the supervisor. */
  readCpu(): Promise<CpuReading>;
  /** Places orders, waits until all their events are shipped, and says what all of it cost. */
  shoot(load: Omit<Load, 'origin'>): Promise<Shot>;
}

export async function openShop(options: PlatformOptions, loadTool: Worker): Promise<Shop> {
  const platform = await startPlatform(options);

  async function cpu(): Promise<CpuReading> {
    const { instances, supervisor } = await platform.state();
    const running = instances.flatMap(({ service, process }) => (process ? [[service, process.pid] as const] : []));
    return readCpu({ ...Object.fromEntries(running), supervisor: supervisor.pid });
  }

  return {
    platform,
    readCpu: cpu,
    async shoot(load) {
      const before = await cpu();
      const tool = await readCpu({ 'load tool': loadTool.pid });
      const result = await loadTool.call<LoopResult>('run', { ...load, origin: platform.gatewayUrl });
      await untilShipped(platform);
      const own = cpuBetween(before, await cpu());
      return { ...result, cpuMs: { ...own, ...cpuBetween(tool, await readCpu({ 'load tool': loadTool.pid })) } };
    },
    [Symbol.asyncDispose]: () => platform.stop(),
  };
}

/** Until every confirmed order's event is published and in shipping's inbox. */
export async function untilShipped(platform: TestPlatform): Promise<void> {
  const counts = async () => {
    const [outbox] = await platform.query<{ pending: number; all: number }>(
      'orders',
      'SELECT count(*) FILTER (WHERE published_at IS NULL)::int AS pending, count(*)::int AS all FROM outbox',
    );
    // Not asked before there can be a yes: counting costs the database that is measured.
    if (outbox?.pending !== 0) return { pending: outbox?.pending };
    const [inbox] = await platform.query<{ all: number }>('shipping', 'SELECT count(*)::int AS all FROM inbox');
    return { pending: outbox?.pending, events: outbox?.all, received: inbox?.all };
  };
  await eventually('all events to be shipped', { withinMs: DRAIN_LIMIT_MS, seen: counts }, async () => {
    const { pending, events, received } = await counts();
    return pending === 0 && events !== undefined && events === received;
  });
}

/** URLs of the services' own roles on a platform. */
export async function serviceUrls(platform: TestPlatform): Promise<DatabaseUrls> {
  return urlsOf(platform, 'service');
}

/** URLs of the roles that own the schemas: for filling tables. */
export async function ownerUrls(platform: TestPlatform): Promise<DatabaseUrls> {
  return urlsOf(platform, 'owner');
}

async function urlsOf(platform: TestPlatform, role: 'owner' | 'service'): Promise<DatabaseUrls> {
  const secrets = JSON.parse(await platform.secrets()) as Secrets;
  const { address } = await platform.instance('postgres');
  if (address === undefined) throw new Error('PostgreSQL of the platform has no address');
  const urls = databaseNames.map((name) => [name, databaseUrl(role, name, { address, secrets })]);
  return Object.fromEntries(urls) as DatabaseUrls;
}
