import type { OrderCost } from './cost.ts';

const digits = (value: number, places: number) =>
  value.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
const sumOf = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0);

/** The tables of docs/scaling.md, in Markdown. */
export function renderCost(cost: OrderCost, machine: string): string {
  const programs = Object.keys(cost.cpuMs);
  const tables = cost.tables.filter(({ inserted, updated }) => inserted > 0.01 || updated > 0.01);
  return [
    `${machine}; ${digits(cost.orders, 0)} confirmed orders of one line at ${digits(cost.ordersPerSecond, 0)} a second, services wired directly.`,
    '',
    '| program | CPU ms an order | CPU ms a second without orders |',
    '| --- | --- | --- |',
    ...programs.map(
      (name) => `| ${name} | ${digits(cost.cpuMs[name] ?? 0, 2)} | ${digits(cost.idleCpuMsPerSecond[name] ?? 0, 1)} |`,
    ),
    `| all | ${digits(sumOf(Object.values(cost.cpuMs)), 2)} | ${digits(sumOf(Object.values(cost.idleCpuMsPerSecond)), 1)} |`,
    '',
    '| table | rows inserted | rows updated | bytes in the table | bytes in its indexes |',
    '| --- | --- | --- | --- | --- |',
    ...tables.map(
      ({ table, inserted, updated, heapBytes, indexBytes }) =>
        `| ${table} | ${digits(inserted, 2)} | ${digits(updated, 2)} | ${digits(heapBytes, 0)} | ${digits(indexBytes, 0)} |`,
    ),
    `| all | ${digits(sumOf(tables.map((one) => one.inserted)), 2)} | ${digits(sumOf(tables.map((one) => one.updated)), 2)} | ${digits(sumOf(tables.map((one) => one.heapBytes)), 0)} | ${digits(sumOf(tables.map((one) => one.indexBytes)), 0)} |`,
    '',
    '| an order | amount |',
    '| --- | --- |',
    ...Object.entries(cost.commits).map(
      ([name, count]) => `| transactions committed in ${name} | ${digits(count, 2)} |`,
    ),
    `| WAL bytes | ${digits(cost.walBytes, 0)} (and ${digits(cost.idleWalBytesPerSecond, 0)} a second without orders) |`,
    `| messages delivered | ${digits(cost.deliveries, 2)} |`,
    `| spans exported | ${digits(cost.spans, 2)} |`,
  ].join('\n');
}

/** The last row of the last table. */
export function renderRelay({ events, eventsPerSecond }: { events: number; eventsPerSecond: number }): string {
  return `| one relay's rate | ${digits(eventsPerSecond, 0)} events a second (a backlog of ${digits(events, 0)}) |`;
}

const BEGIN = '<!-- cost: npm run bench:cost -- --write -->';
const END = '<!-- /cost -->';

/** The page with what stands between its markers replaced. Throws when it has no markers. */
export function replaceCost(page: string, text: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page has no ${BEGIN} before ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`;
}
