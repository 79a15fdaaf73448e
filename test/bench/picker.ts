/**
 * `npm run bench:picker`: what choosing the replicas of an order costs, beside plain turns. One process, no server.
 * `npm run bench:picker -- --help` names options and exit codes.
 */
import { randomUUID } from 'node:crypto';
import type { Track } from '@shop/kit/release.ts';
import { createReplicaPicker, type Placed, type Replica } from '@shop/kit/replica-picker.ts';
import { upstreamAt } from '@shop/kit/upstreams.ts';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { benchmark, runBenchmark } from './program.ts';
import { describeMachine } from './report.ts';
import { type Summary, summarize } from './rounds.ts';

/** Of all choices of one order, in µs: the median of every row. */
const LIMIT_US = 57;
/** An order of one product calls orders, catalog, stock and payments. */
const CALLS = 4;
const ORDERS = 20_000;

const command = benchmark(
  'bench:picker',
  `What choosing the replicas for the ${CALLS} calls of an order costs (target: a median of at most ${LIMIT_US} µs in every row).`,
)
  .option('--rounds <n>', 'rounds, rows alternating', parsePositive, 15)
  .option('--json', 'print the figures as JSON');

/** Chooses for all calls of the order with this key. */
type Choose = (key: string) => void;

const none: ReadonlySet<Replica> = new Set();

/** Turns over a list: what a choice costs at the least. */
function turns(count: number): Choose {
  const replicas = Array.from({ length: count }, (_, index) => replicaAt(index));
  let turn = 0;
  let last: Replica | undefined;
  return () => {
    for (let call = 0; call < CALLS; call += 1) last = replicas[turn++ % replicas.length];
    if (last === undefined) throw new Error('there are no replicas');
  };
}

function picking(...places: readonly Partial<Placed<Replica>>[]): Choose {
  const pickers = Array.from({ length: CALLS }, () => {
    const placed = places.map((place, index) => {
      const replica = replicaAt(index);
      return { ...upstreamAt(replica.address), replica, ...place };
    });
    const limits = { failures: 5, trialEveryMs: 5_000 };
    return createReplicaPicker(placed, limits, { ejected: () => undefined, returned: () => undefined });
  });
  return (key) => {
    for (const picker of pickers) picker.responded(picker.pick(none, key));
  };
}

const replicaAt = (index: number): Replica => ({ address: `127.0.0.1:${4_000 + index}`, check: async () => undefined });
const places = (count: number, track: Track, weight: number) =>
  Array.from({ length: count }, () => ({ track, weight }));

const cases: Readonly<Record<string, Choose>> = {
  'turns over 3 (the floor)': turns(3),
  '1 replica': picking({}),
  '3 replicas': picking({}, {}, {}),
  '3 replicas, weights': picking({ weight: 5 }, { weight: 1 }, { weight: 1 }),
  '3 replicas, 1 % canary by key': picking(...places(2, 'stable', 99), ...places(1, 'canary', 2)),
  '20 replicas, 1 % canary by key': picking(...places(18, 'stable', 11), ...places(2, 'canary', 1)),
};

async function measure({ rounds }: { readonly rounds: number }, output: Output) {
  const keys = Array.from({ length: ORDERS }, () => randomUUID());
  const shots = Object.entries(cases).map(([title, choose]) => ({ title, choose, us: [] as number[] }));
  // One more round first: code that is not compiled yet is slower.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { choose, us } of shots) {
      const beganMs = performance.now();
      for (const key of keys) choose(key);
      if (round > 0) us.push(((performance.now() - beganMs) / ORDERS) * 1_000);
    }
  }
  const rows = shots.map(({ title, us }) => ({ title, usPerOrder: summarize(us) }));
  output.result({ machine: describeMachine(), rounds, orders: ORDERS, limitUs: LIMIT_US, rows }, () => describe(rows));
  return rows.every(({ usPerOrder }) => usPerOrder.median <= LIMIT_US) ? exitCodes.ok : exitCodes.failed;
}

function describe(rows: readonly { readonly title: string; readonly usPerOrder: Summary }[]): string {
  return [
    '| choice | µs per order | range |',
    '| --- | --- | --- |',
    ...rows.map(
      ({ title, usPerOrder: { median, min, max } }) =>
        `| ${title} | ${median.toFixed(2)} | ${min.toFixed(2)}-${max.toFixed(2)} |`,
    ),
  ].join('\n');
}

process.exitCode = await runBenchmark(command, measure);
