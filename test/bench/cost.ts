/**
 * `npm run bench:cost`: what one confirmed order costs: CPU by program, rows, bytes, WAL, messages, spans. Starts a
 * separate platform, takes samples around a number of orders and around some time without any, and prints the
 * difference. `npm run bench:cost -- --help` names options and exit codes.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { connectPlatform, type PlatformConnection } from '../../cli/src/platform/connection.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { openShopDatabases } from '../../cli/src/shop/databases.ts';
import { startGuard } from '../support/guard.ts';
import { costOf } from './cost/cost.ts';
import { drainOutbox } from './cost/drain.ts';
import { placeOrders } from './cost/place-orders.ts';
import { renderCost, renderRelay, replaceCost } from './cost/render.ts';
import { renderLoad } from './cost/render-load.ts';
import { takeSample } from './cost/sample.ts';
import { benchmark, runBenchmark } from './program.ts';

const run = promisify(execFile);
const command = benchmark(
  'bench:cost',
  'What one confirmed order costs: CPU by program, rows, bytes, WAL, messages, spans. Starts a separate platform.',
)
  .option('--orders <n>', 'orders that are measured', parsePositive, 2_000)
  .option('--concurrency <n>', 'orders in flight', parsePositive, 8)
  .option('--json', 'print the figures as JSON')
  .option('--write', 'write the tables into docs/scaling.md');

interface Options {
  readonly orders: number;
  readonly concurrency: number;
  readonly write?: boolean;
}

/** Code is compiled, plans are cached, pools are full. */
const WARM_UP_ORDERS = 500;
/** An idle connection of PostgreSQL reports its counts after 10 s at the latest (PGSTAT_IDLE_INTERVAL). In ms. */
const SETTLE_MS = 11_000;
const IDLE_MS = 15_000;

/** What happened a moment ago is in the counters by now. */
async function sample(...[platform, databases]: Parameters<typeof takeSample>) {
  await delay(SETTLE_MS);
  return takeSample(platform, databases);
}

async function samplePlatform(
  platform: PlatformConnection,
  { orders, concurrency }: Options,
  say: (line: string) => void,
) {
  await using databases = openShopDatabases(platform.databaseUrls);
  say(`warming up with ${WARM_UP_ORDERS} orders`);
  await placeOrders(WARM_UP_ORDERS, concurrency, { platform, databases });
  const first = await sample(platform, databases);
  say(`placing ${orders} orders, ${concurrency} at a time`);
  const ordersPerSecond = await placeOrders(orders, concurrency, { platform, databases });
  const second = await sample(platform, databases);
  say(`doing nothing for ${IDLE_MS / 1_000} s`);
  await delay(IDLE_MS);
  const third = await takeSample(platform, databases);
  say('publishing every event again');
  const relay = await drainOutbox(databases);
  return { ...costOf({ orders, ordersPerSecond }, [first, second], [second, third]), relay };
}

async function measure(options: Options, output: Output) {
  const root = cloneRoot();
  const home = await mkdtemp(join(tmpdir(), 'shop-cost-'));
  const env = { ...process.env, SHOPCTL_PROBE: 'off', SHOPCTL_HOME: home, NO_COLOR: '1' };
  const shopctl = join(root, 'cli/bin/shopctl');
  await using _ = startGuard(home, [shopctl, 'down', '--volumes', '--project', 'cost'], env);
  await run(shopctl, ['up', '--direct', '--project', 'cost'], { env });
  const platform = await connectPlatform(openProject('cost', root, env), env);
  const cost = await samplePlatform(platform, options, output.note);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${release()}, Node ${process.version}`;
  const text = `${renderCost(cost, machine)}\n${renderRelay(cost.relay)}\n\n${renderLoad(cost)}`;
  if (options.write) {
    const page = join(root, 'docs/scaling.md');
    await writeFile(page, replaceCost(await readFile(page, 'utf8'), text));
  }
  output.result({ machine, ...cost }, () => text);
  return exitCodes.ok;
}

process.exitCode = await runBenchmark(command, measure);
