/**
 * What one confirmed order costs: CPU by program, rows, bytes, WAL, messages, spans. Starts a platform of its own, takes
 * samples around a number of orders and around some time without any, and prints the difference.
 * `npm run bench:cost -- [--orders N] [--at-once N] [--json] [--write]`; `--write` puts the tables into docs/scaling.md.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { connectPlatform } from '../../cli/src/platform/connection.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { openShopDatabases } from '../../cli/src/shop/databases.ts';
import { costOf } from './cost/cost.ts';
import { drainOutbox } from './cost/drain.ts';
import { placeOrders } from './cost/place-orders.ts';
import { renderCost, renderRelay, replaceCost } from './cost/render.ts';
import { renderLoad } from './cost/render-load.ts';
import { takeSample } from './cost/sample.ts';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '2000' },
    'at-once': { type: 'string', default: '8' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const orders = wholeNumber('--orders', values.orders);
const atOnce = wholeNumber('--at-once', values['at-once']);

/** Code is compiled, plans are cached, pools are full. */
const WARM_UP_ORDERS = 500;
/** An idle connection of PostgreSQL tells its counts after 10 s at the latest (PGSTAT_IDLE_INTERVAL). In ms. */
const SETTLE_MS = 11_000;
const IDLE_MS = 15_000;

const root = cloneRoot();
const home = await mkdtemp(join(tmpdir(), 'shop-cost-'));
const env = { ...process.env, SHOPCTL_HOME: home, NO_COLOR: '1' };
const project = openProject('cost', root, env);
const shopctl = (...args: string[]) => run(join(root, 'cli/bin/shopctl'), [...args, '--project', 'cost'], { env });
const say = (text: string) => process.stderr.write(`${text}\n`);

/** What happened a moment ago is in the counters by now. */
async function sample(...[platform, databases]: Parameters<typeof takeSample>) {
  await delay(SETTLE_MS);
  return takeSample(platform, databases);
}

async function measure() {
  const platform = await connectPlatform(project, env);
  await using databases = openShopDatabases(platform.databaseUrls);
  say(`warming up with ${WARM_UP_ORDERS} orders`);
  await placeOrders(WARM_UP_ORDERS, atOnce, { platform, databases });
  const first = await sample(platform, databases);
  say(`placing ${orders} orders, ${atOnce} at a time`);
  const ordersPerSecond = await placeOrders(orders, atOnce, { platform, databases });
  const second = await sample(platform, databases);
  say(`doing nothing for ${IDLE_MS / 1_000} s`);
  await delay(IDLE_MS);
  const third = await takeSample(platform, databases);
  say('publishing every event again');
  const relay = await drainOutbox(databases);
  return { ...costOf({ orders, ordersPerSecond }, [first, second], [second, third]), relay };
}

try {
  await shopctl('up', '--direct');
  const cost = await measure();
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${release()}, Node ${process.version}`;
  const text = `${renderCost(cost, machine)}\n${renderRelay(cost.relay)}\n\n${renderLoad(cost)}`;
  if (values.write) {
    const page = join(root, 'docs/scaling.md');
    await writeFile(page, replaceCost(await readFile(page, 'utf8'), text));
  }
  console.log(values.json ? JSON.stringify({ machine, ...cost }, null, 2) : text);
} finally {
  await shopctl('down', '--volumes');
  await rm(home, { recursive: true, force: true });
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} takes a whole number from 1, got "${text}"`);
  return value;
}
