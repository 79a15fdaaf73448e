import type { Panel, Query, Unit, Variable } from '../model.ts';

/** Health checks and probes of orchestrators are not the service's work. */
const WORK = 'http_route!~"/health.*"';

/** Requests per second by label, of HTTP, gRPC and deliveries alike: a service has one of them. */
export function requestsBy(labels: string, matchers = ''): string {
  return [
    `sum by (${labels}) (rate(http_server_request_duration_seconds_count{${joined(WORK, matchers)}}[$window]))`,
    `sum by (${labels}) (rate(rpc_server_call_duration_seconds_count{${matchers}}[$window]))`,
    `sum by (${labels}) (rate(messaging_process_duration_seconds_count{${matchers}}[$window]))`,
  ].join('\nor ');
}

/** The share of requests that the service failed on: 5xx, and statuses of gRPC that are not the caller's. */
export function failuresBy(labels: string, matchers = ''): string {
  const http = (more: string) =>
    `sum by (${labels}) (rate(http_server_request_duration_seconds_count{${joined(WORK, more, matchers)}}[$window]))`;
  const rpc = (more: string) =>
    `sum by (${labels}) (rate(rpc_server_call_duration_seconds_count{${joined(more, matchers)}}[$window]))`;
  const serverErrors =
    'rpc_response_status_code=~"UNKNOWN|DEADLINE_EXCEEDED|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS"';
  return [
    `(${http('http_response_status_code=~"5.."')} or 0 * ${http('')}) / (${http('')} > 0)`,
    `(${rpc(serverErrors)} or 0 * ${rpc('')}) / (${rpc('')} > 0)`,
  ].join('\nor ');
}

/** A quantile of what requests take. */
export function durationBy(quantile: number, labels: string, matchers = ''): string {
  const of = (metric: string, more = '') =>
    `histogram_quantile(${quantile}, sum by (${labels}, le) (rate(${metric}_bucket{${joined(more, matchers)}}[$window])))`;
  return [
    of('http_server_request_duration_seconds', WORK),
    of('rpc_server_call_duration_seconds'),
    of('messaging_process_duration_seconds'),
  ].join('\nor ');
}

/** A quantile of one histogram. */
export function quantileOf(quantile: number, metric: string, labels: readonly string[] = [], matchers = ''): string {
  const by = [...labels, 'le'].join(', ');
  return `histogram_quantile(${quantile}, sum by (${by}) (rate(${metric}_bucket{${matchers}}[$window])))`;
}

/** Half and nearly all of a histogram, and how many there are: a quantile of two requests says little. */
export function quantiles(metric: string, labels: readonly string[] = [], matchers = ''): readonly Query[] {
  const suffix = labels.map((label) => ` {{${label}}}`).join('');
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: quantileOf(quantile, metric, labels, matchers),
    legend: `p${quantile * 100}${suffix}`,
  }));
}

function joined(...matchers: readonly string[]): string {
  return matchers.filter((one) => one !== '').join(',');
}

interface LinesOptions {
  readonly unit?: Unit;
  readonly width?: number;
  readonly description?: string;
  readonly after?: string;
}

/** A chart over time. */
export function lines(title: string, queries: readonly Query[] | Query, options: LinesOptions = {}): Panel {
  const { unit = 'ops', width = 8, ...more } = options;
  return { title, kind: 'lines', unit, width, queries: Array.isArray(queries) ? queries : [queries as Query], ...more };
}

/** One value, the latest. */
export function number(title: string, expr: string, options: LinesOptions = {}): Panel {
  const { unit = 'count', width = 4, ...more } = options;
  return { title, kind: 'number', unit, width, queries: [{ expr, legend: title }], ...more };
}

/** A row for each series. */
export function table(title: string, expr: string, options: LinesOptions = {}): Panel {
  const { unit = 'count', width = 12, ...more } = options;
  return { title, kind: 'table', unit, width, queries: [{ expr, legend: title }], ...more };
}

export const serviceVariable: Variable = {
  name: 'service',
  title: 'Service',
  series: 'target_info{shop_track!=""}',
  label: 'job',
  isMulti: false,
};

export const instanceVariable: Variable = {
  name: 'instance',
  title: 'Instance',
  series: 'target_info{shop_track!=""}',
  label: 'instance',
  isMulti: true,
};

export const trackVariable: Variable = {
  name: 'track',
  title: 'Track',
  series: 'target_info{shop_track!=""}',
  label: 'shop_track',
  isMulti: true,
};
