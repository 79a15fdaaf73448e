import type { Calm, Result, ServiceResult } from './result.ts';
import { clients, type Tally } from './tally.ts';

const HEADERS = [
  'service',
  'restarts (replaced or added)',
  'requests',
  'k6: kept, new',
  'own: kept, new',
  'failed',
  'lost, doubled',
  'traces as contract',
  's a restart: median, max',
  'p99, max ms',
];

/** A Markdown table with a line for each service, and what does not hold below it. */
export function renderRestarts({ machine, chosen, calm, services, audit, misses, stated }: Result): string {
  const { cpus, memoryGb, system, node, load1 } = machine;
  const { rate, connections, replicas, runtime } = chosen;
  const done = whatIsDone(chosen);
  return [
    `${cpus}, ${memoryGb} GB, ${system}, Node ${node}, load before ${load1.toFixed(1)}`,
    `${rate} orders/s, each read back, connections: ${connections}; ${replicas} replicas, runtime: ${runtime}; ${done}`,
    '',
    ...table([HEADERS, calmRow(calm), ...services.map(rowOf), ...(services.length > 1 ? [totalOf(services)] : [])]),
    '',
    `audit: ${audit.verdict}, ${audit.orders} orders`,
    ...firstOf(stated).map((line) => `stated: ${line}`),
    ...firstOf(misses).map((line) => `missed: ${line}`),
  ].join('\n');
}

function whatIsDone({ scale, deploy }: Result['chosen']): string {
  if (deploy !== undefined) return `${deploy} deploys in place of restarts`;
  return scale === undefined ? 'restarts' : `scaled to ${scale} and back, in place of restarts`;
}

/** Of a machine that was too busy there are dozens. */
const SHOWN = 20;

function firstOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - SHOWN;
  return more > 0 ? [...lines.slice(0, SHOWN), `and ${more} more (all with --json)`] : lines;
}

function calmRow({ requests, by, failed, lost, doubled, servedMs }: Calm): readonly string[] {
  return [
    'without restarts',
    '',
    String(requests),
    ...clients.map((client) => perConnection(by[client])),
    String(failed),
    `${lost.length}, ${doubled.length}`,
    '',
    '',
    timesOf(servedMs),
  ];
}

function timesOf(servedMs: Tally['servedMs']): string {
  return servedMs === undefined ? '-' : `${servedMs.p99.toFixed(0)}, ${servedMs.max.toFixed(0)}`;
}

function rowOf(one: ServiceResult): readonly string[] {
  const { service, restarts, replaced, requests, failed, lost, doubled, traces, restartSeconds, servedMs } = one;
  const asContract = traces.filter(({ verdict }) => verdict === 'pass').length;
  return [
    service,
    `${restarts} (${replaced})`,
    String(requests),
    ...clients.map((client) => perConnection(one.by[client])),
    String(failed),
    `${lost.length}, ${doubled.length}`,
    `${asContract} of ${traces.length}`,
    `${restartSeconds.median.toFixed(1)}, ${restartSeconds.max.toFixed(1)}`,
    timesOf(servedMs),
  ];
}

function totalOf(services: readonly ServiceResult[]): readonly string[] {
  const sum = (value: (one: ServiceResult) => number) => services.reduce((total, one) => total + value(one), 0);
  return [
    'all',
    `${sum(({ restarts }) => restarts)} (${sum(({ replaced }) => replaced)})`,
    String(sum(({ requests }) => requests)),
    ...clients.map((client) =>
      perConnection({ kept: sum(({ by }) => by[client].kept), new: sum(({ by }) => by[client].new) }),
    ),
    String(sum(({ failed }) => failed)),
    `${sum(({ lost }) => lost.length)}, ${sum(({ doubled }) => doubled.length)}`,
    `${sum(({ traces }) => traces.filter(({ verdict }) => verdict === 'pass').length)} of ${sum(({ traces }) => traces.length)}`,
    '',
    '',
  ];
}

function perConnection({ kept, new: fresh }: Tally['by']['k6']): string {
  return `${kept}, ${fresh}`;
}

function table([headers = [], ...rows]: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(headers), line(headers.map(() => '---')), ...rows.map(line)];
}
