import { eventually } from '../../e2e/support/eventually.ts';
import type { TestPlatform } from '../../support/platform.ts';
import type { Bench } from '../bench.ts';
import { alternate, type Shot } from '../measure/cases.ts';
import { cpuBetween } from '../measure/cpu.ts';
import { summarize } from '../rounds.ts';
import { caseRow, type Section, withRange } from '../section.ts';
import { fillInterrupted } from '../subjects/fill.ts';
import { ownerUrls, type Shop, untilShipped } from '../subjects/shop.ts';
import { command } from '../subjects/stopped.ts';

/** Numbers of the rows of this group; other groups use lower ones. */
const FIRST = 10_000_000;
const LIMIT_MS = 300_000;

/** (e) Sagas that a killed process left behind right after it inserted them, driven to their end by another. */
export async function measureRecovery(bench: Bench): Promise<Section> {
  const sagas = bench.options.quick ? 200 : 1_000;
  const shop = await bench.shop('direct');
  const recoveries: Recovery[] = [];
  const [measured] = await alternate(
    [
      {
        name: `${sagas} interrupted sagas`,
        async run() {
          const recovery = await recover(shop, FIRST + recoveries.length * sagas, sagas);
          recoveries.push(recovery);
          return recovery;
        },
      },
    ],
    { ...bench.options, say: bench.say },
  );
  if (measured === undefined) throw new Error('no round was measured');
  const seconds = summarize(recoveries.map((one) => one.seconds));
  const [, perSecond = '', , , cpu = '', cpuBy = ''] = caseRow(measured);
  return {
    headers: [
      'interrupted sagas',
      'sagas/s (range)',
      's from the start of the service (range)',
      'CPU ms a saga (range)',
      'CPU ms by process',
    ],
    rows: [[String(sagas), perSecond, withRange(seconds), cpu, cpuBy]],
    targets: [],
    notes: [
      'Sagas/s from the first decision to the last. The service starts cold; every saga ends Confirmed and is shipped.',
      'CPU from before the start of the service until all is shipped: loading the code, and asking whether they have ended, are in it.',
    ],
    measured: { ...measured, seconds },
  };
}

/** One round. Its rate goes by decisions, of which the first begins it. */
interface Recovery extends Shot {
  /** From the start of the service that finds the sagas to the end of the last. */
  readonly seconds: number;
}

async function recover(shop: Shop, from: number, sagas: number): Promise<Recovery> {
  const { platform } = shop;
  await command(platform, 'stop', 'orders');
  await fillInterrupted(await ownerUrls(platform), { from, to: from + sagas - 1 });
  // The service that is stopped is in no reading: what it has by the end is what it took since its start.
  const before = await shop.readCpu();
  const began = performance.now();
  await command(platform, 'start', 'orders');
  const open = () => platform.query<{ open: number }>('orders', 'SELECT count(*)::int AS open FROM orders WHERE open');
  await eventually('all sagas to end', { withinMs: LIMIT_MS, seen: open }, async () => (await open())[0]?.open === 0);
  const seconds = (performance.now() - began) / 1000;
  const tookMs = await decisionsTookMs(platform, from, sagas);
  await untilShipped(platform);
  const cpuMs = cpuBetween(before, await shop.readCpu());
  const elapsedMs = (tookMs * sagas) / (sagas - 1);
  return { seconds, done: sagas, failed: 0, elapsedMs, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuMs };
}

/** From the first decision to the last, by the database's clock. Throws when not all were confirmed. */
async function decisionsTookMs(platform: TestPlatform, from: number, sagas: number): Promise<number> {
  const [row] = await platform.query<{ confirmed: number; took: number }>(
    'orders',
    `SELECT count(*) FILTER (WHERE status = 'Confirmed')::int AS confirmed,
            1000 * extract(epoch FROM max(decided_at) - min(decided_at))::float AS took
     FROM orders WHERE id IN (SELECT md5('order ' || n)::uuid FROM generate_series($1::int, $2::int) AS n)`,
    [from, from + sagas - 1],
  );
  if (row?.confirmed !== sagas) throw new Error(`${row?.confirmed} of ${sagas} sagas were confirmed`);
  return row.took;
}
