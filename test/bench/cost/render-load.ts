import type { OrderCost } from './cost.ts';

/** Orders a second: today's load, and 10, 100 and 1,000 times as much. */
const RATES = [10, 100, 1_000, 10_000] as const;
const SECONDS_PER_DAY = 86_400;
const DAYS_PER_YEAR = 365;

const UNITS = [
  { size: 1e12, name: 'TB' },
  { size: 1e9, name: 'GB' },
  { size: 1e6, name: 'MB' },
  { size: 1e3, name: 'KB' },
  { size: 1, name: 'B' },
] as const;

/** Two significant digits, with thousands apart: 0.02, 4.9, 49, 310,000. */
function about(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 2 });
}

function bytes(value: number): string {
  const { size, name } = UNITS.find((unit) => value >= unit.size) ?? UNITS[4];
  return `${about(value / size)} ${name}`;
}

/** What the costs of one order come to at each rate, as two Markdown tables. */
export function renderLoad(cost: OrderCost): string {
  const atRates = (write: (rate: number) => string) => RATES.map(write).join(' | ');
  const cpu = Object.entries(cost.cpuMs).map(
    ([name, ms]) => `| ${name} | ${about(1_000 / ms)} | ${atRates((rate) => about((rate * ms) / 1_000))} |`,
  );
  const sumOf = (tables: typeof cost.tables) =>
    tables.reduce((sum, { heapBytes, indexBytes }) => sum + heapBytes + indexBytes, 0);
  const all = sumOf(cost.tables);
  const outbox = sumOf(cost.tables.filter(({ table }) => table === 'orders.outbox'));
  const statements = cost.tables.reduce((sum, { inserted, updated }) => sum + inserted + updated, 0);
  const commits = Object.values(cost.commits).reduce((sum, count) => sum + count, 0);
  const rows: readonly (readonly [string, (rate: number) => string])[] = [
    ['transactions a second', (rate) => about(rate * commits)],
    ['rows written a second', (rate) => about(rate * statements)],
    ['WAL a second', (rate) => bytes(rate * cost.walBytes)],
    ['data a day, all tables', (rate) => bytes(rate * SECONDS_PER_DAY * all)],
    ['outbox, kept for a year', (rate) => bytes(rate * SECONDS_PER_DAY * DAYS_PER_YEAR * outbox)],
    ['messages a second', (rate) => about(rate * cost.deliveries)],
    ['spans a second', (rate) => about(rate * cost.spans)],
  ];
  return [
    `| cores | orders a second one core carries | ${RATES.map((rate) => `at ${rate.toLocaleString('en-US')}/s`).join(' | ')} |`,
    `| --- | ---${' | ---'.repeat(RATES.length)} |`,
    ...cpu,
    '',
    `| amounts | ${RATES.map((rate) => `at ${rate.toLocaleString('en-US')}/s`).join(' | ')} |`,
    `| ---${' | ---'.repeat(RATES.length)} |`,
    ...rows.map(([name, write]) => `| ${name} | ${atRates(write)} |`),
  ].join('\n');
}
