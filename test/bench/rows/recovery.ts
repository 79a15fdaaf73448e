import { eventually } from '../../e2e/support/eventually.ts';
import type { Bench } from '../bench.ts';
import { summarize } from '../rounds.ts';
import { type Section, withRange } from '../section.ts';
import { fillInterrupted } from '../subjects/fill.ts';
import { ownerUrls, type Shop, untilShipped } from '../subjects/shop.ts';
import { command } from '../subjects/stopped.ts';

/** Numbers of the rows of this group; other groups use lower ones. */
const FIRST = 10_000_000;
const LIMIT_MS = 300_000;

/** One round: from the start of the service that finds them to the end of the last. */
interface Recovery {
  readonly seconds: number;
  readonly perSecond: number;
}

/** (e) Sagas that a dead process left behind right after it inserted them, driven to their end by another. */
export async function measureRecovery(bench: Bench): Promise<Section> {
  const sagas = bench.options.quick ? 200 : 1_000;
  const shop = await bench.shop('direct');
  const recoveries: Recovery[] = [];
  for (let round = 0; round < bench.options.rounds; round++) {
    bench.say(`round ${round + 1} of ${bench.options.rounds}: ${sagas} interrupted sagas`);
    recoveries.push(await recover(shop, FIRST + round * sagas, sagas));
  }
  const perSecond = summarize(recoveries.map((one) => one.perSecond));
  const seconds = summarize(recoveries.map((one) => one.seconds));
  return {
    headers: ['interrupted sagas', 'sagas/s (range)', 's from the start of the service (range)'],
    rows: [[String(sagas), withRange(perSecond), withRange(seconds)]],
    targets: [],
    notes: [
      'Sagas/s from the first decision to the last. The service starts cold; every saga ends Confirmed and is shipped.',
    ],
    measured: { perSecond, seconds },
  };
}

async function recover({ platform }: Shop, from: number, sagas: number): Promise<Recovery> {
  await command(platform, 'stop', 'orders');
  await fillInterrupted(await ownerUrls(platform), { from, to: from + sagas - 1 });
  const began = performance.now();
  await command(platform, 'start', 'orders');
  const open = () => platform.query<{ open: number }>('orders', 'SELECT count(*)::int AS open FROM orders WHERE open');
  await eventually('all sagas to end', { withinMs: LIMIT_MS, seen: open }, async () => (await open())[0]?.open === 0);
  const seconds = (performance.now() - began) / 1000;
  const [row] = await platform.query<{ confirmed: number; took: number }>(
    'orders',
    `SELECT count(*) FILTER (WHERE status = 'Confirmed')::int AS confirmed,
            extract(epoch FROM max(decided_at) - min(decided_at))::float AS took
     FROM orders WHERE id IN (SELECT md5('order ' || n)::uuid FROM generate_series($1::int, $2::int) AS n)`,
    [from, from + sagas - 1],
  );
  if (row?.confirmed !== sagas) throw new Error(`${row?.confirmed} of ${sagas} sagas were confirmed`);
  await untilShipped(platform);
  return { seconds, perSecond: (sagas - 1) / row.took };
}
