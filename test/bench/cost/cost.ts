import type { Sample, TableSample } from './sample.ts';

export interface TableCost {
  readonly table: string;
  readonly inserted: number;
  readonly updated: number;
  /** Growth of the table and of its indexes, bytes an order. */
  readonly heapBytes: number;
  readonly indexBytes: number;
}

/** What one confirmed order costs. Times in CPU ms; what the system does without orders is taken off. */
export interface OrderCost {
  readonly orders: number;
  readonly ordersPerSecond: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Without orders, CPU ms in a second. */
  readonly idleCpuMsPerSecond: Readonly<Record<string, number>>;
  readonly tables: readonly TableCost[];
  readonly commits: Readonly<Record<string, number>>;
  readonly walBytes: number;
  readonly idleWalBytesPerSecond: number;
  readonly spans: number;
  readonly deliveries: number;
}

/** The difference of two samples around `orders` orders, less that of two samples around nothing, by its time. */
export function costOf(
  { orders, ordersPerSecond }: Pick<OrderCost, 'orders' | 'ordersPerSecond'>,
  busy: readonly [Sample, Sample],
  idle: readonly [Sample, Sample],
): OrderCost {
  const [before, after] = busy;
  const seconds = secondsOf(busy);
  const idleShare = (read: (sample: Sample) => number) => (read(idle[1]) - read(idle[0])) / secondsOf(idle);
  const each = (read: (sample: Sample) => number) => (read(after) - read(before) - idleShare(read) * seconds) / orders;
  const byName = (names: Iterable<string>, value: (name: string) => number) =>
    Object.fromEntries([...names].map((name) => [name, value(name)]));
  return {
    orders,
    ordersPerSecond,
    cpuMs: byName(after.cpuMs.keys(), (name) => each(({ cpuMs }) => cpuMs.get(name) ?? 0)),
    idleCpuMsPerSecond: byName(after.cpuMs.keys(), (name) => idleShare(({ cpuMs }) => cpuMs.get(name) ?? 0)),
    tables: [...after.tables.keys()].map((table) =>
      tableCost(table, (read) => each((sample) => read(at(sample, table)))),
    ),
    commits: byName(after.commits.keys(), (name) => each(({ commits }) => commits.get(name) ?? 0)),
    walBytes: each(({ walBytes }) => walBytes),
    idleWalBytesPerSecond: idleShare(({ walBytes }) => walBytes),
    spans: each(({ spans }) => spans),
    deliveries: each(({ deliveries }) => deliveries),
  };
}

function secondsOf([before, after]: readonly [Sample, Sample]): number {
  return (after.atMs - before.atMs) / 1_000;
}

function at({ tables }: Sample, table: string): TableSample {
  const found = tables.get(table);
  if (found === undefined) throw new Error(`table ${table} is not in every sample`);
  return found;
}

function tableCost(table: string, each: (read: (sample: TableSample) => number) => number): TableCost {
  const indexBytes = each((sample) => sample.indexBytes);
  return {
    table,
    inserted: each(({ inserted }) => inserted),
    updated: each(({ updated }) => updated),
    heapBytes: each(({ bytes }) => bytes) - indexBytes,
    indexBytes,
  };
}
