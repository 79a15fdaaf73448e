import type { Page } from '../model.ts';
import {
  failuresBy,
  instanceVariable,
  lines,
  quantileOf,
  requestsBy,
  serviceVariable,
  table,
  trackVariable,
} from './queries.ts';

const CHOSEN = 'job="$service",instance=~"$instance"';

/** Adds version and track, which are attributes of the process and no labels of its series. */
function byVersion(expr: string): string {
  const info = 'max by (job, instance, service_version, shop_track) (target_info{shop_track=~"$track"})';
  return `sum by (service_version, shop_track) ((${expr}) * on (job, instance) group_left (service_version, shop_track) ${info})`;
}

/** As `byVersion`, of a histogram. */
function durationByVersion(quantile: number): string {
  const info = 'max by (job, instance, service_version, shop_track) (target_info{shop_track=~"$track"})';
  const of = (metric: string) =>
    `histogram_quantile(${quantile}, sum by (service_version, shop_track, le) (rate(${metric}_bucket{${CHOSEN}}[$window]) * on (job, instance) group_left (service_version, shop_track) ${info}))`;
  return [
    'http_server_request_duration_seconds',
    'rpc_server_call_duration_seconds',
    'messaging_process_duration_seconds',
  ]
    .map(of)
    .join('\nor ');
}

const legend = '{{service_version}} {{shop_track}}';

/** One service: requests, errors and durations by version and track, its edges, its pool. */
export const servicePage: Page = {
  id: 'service',
  title: 'Service',
  description: 'One service by version and track, what it calls, and its pool of database connections.',
  variables: [serviceVariable, instanceVariable, trackVariable],
  rows: [
    {
      title: 'By version and track',
      panels: [
        lines('Requests', { expr: byVersion(requestsBy('job, instance', CHOSEN)), legend }),
        lines(
          'Failed requests',
          { expr: failuresBy('job', CHOSEN), legend: '{{job}}' },
          { unit: 'share', after: 'choosing a service with a server' },
        ),
        lines(
          'Durations',
          [0.5, 0.95, 0.99].map((quantile) => ({
            expr: durationByVersion(quantile),
            legend: `p${quantile * 100} ${legend}`,
          })),
          {
            unit: 's',
          },
        ),
        lines(
          'Attempts of its callers',
          {
            expr: 'sum by (version, track, outcome) (rate(shop_upstream_attempts_total{service="$service",track=~"$track"}[$window]))',
            legend: '{{version}} {{track}} {{outcome}}',
          },
          { after: 'choosing a service that others call' },
        ),
        lines(
          'Durations of first attempts of its callers',
          {
            expr: 'histogram_quantile(0.95, sum by (le, version, track) (rate(shop_upstream_attempt_duration_seconds_bucket{service="$service",track=~"$track"}[$window])))',
            legend: 'p95 {{version}} {{track}}',
          },
          { unit: 's', after: 'a canary with a share of the requests' },
        ),
        lines('Requests by instance', { expr: requestsBy('instance', CHOSEN), legend: '{{instance}}' }),
        lines('Statuses', {
          expr: [
            `sum by (http_request_method, http_route, http_response_status_code) (rate(http_server_request_duration_seconds_count{${CHOSEN}}[$window]))`,
            `sum by (rpc_method, rpc_response_status_code) (rate(rpc_server_call_duration_seconds_count{${CHOSEN}}[$window]))`,
            `sum by (messaging_destination_name) (rate(messaging_process_duration_seconds_count{${CHOSEN}}[$window]))`,
          ].join('\nor '),
          legend: '',
        }),
        lines(
          'Requests in flight',
          { expr: `sum by (instance) (http_server_active_requests{${CHOSEN}})`, legend: '{{instance}}' },
          { unit: 'count', after: 'choosing a service with HTTP' },
        ),
      ],
    },
    {
      title: 'Calls, by edge',
      panels: [
        lines(
          'Calls',
          {
            expr: [
              `sum by (http_request_method, http_response_status_code, server_port) (rate(http_client_request_duration_seconds_count{${CHOSEN}}[$window]))`,
              `sum by (rpc_method, rpc_response_status_code) (rate(rpc_client_call_duration_seconds_count{${CHOSEN}}[$window]))`,
            ].join('\nor '),
            legend: '',
          },
          { after: 'requests of a service that calls others' },
        ),
        lines(
          '95 % of calls take up to',
          {
            expr: [
              quantileOf(0.95, 'http_client_request_duration_seconds', ['http_request_method'], CHOSEN),
              quantileOf(0.95, 'rpc_client_call_duration_seconds', ['rpc_method'], CHOSEN),
            ].join('\nor '),
            legend: '{{http_request_method}}{{rpc_method}}',
          },
          { unit: 's', after: 'requests of a service that calls others' },
        ),
        lines(
          'Circuit breakers',
          { expr: `max by (edge) (shop_breaker_state{${CHOSEN}})`, legend: '{{edge}}' },
          {
            unit: 'count',
            description: '0 closed, 1 half-open, 2 open.',
            after: 'choosing a service that calls others',
          },
        ),
        lines(
          'Changes of circuit breakers',
          {
            expr: `sum by (edge, to) (increase(shop_breaker_transitions_total{${CHOSEN}}[$window]))`,
            legend: '{{edge}} to {{to}}',
          },
          { unit: 'count', after: 'choosing a service that calls others' },
        ),
        lines(
          'Retries',
          { expr: `sum by (edge) (rate(shop_call_retries_total{${CHOSEN}}[$window]))`, legend: '{{edge}}' },
          {
            after: 'choosing a service that calls others',
          },
        ),
        lines(
          'Ejected replicas',
          [
            { expr: `max by (edge) (shop_replicas_ejected{${CHOSEN}})`, legend: '{{edge}} now' },
            {
              expr: `sum by (edge, cause) (increase(shop_replica_ejections_total{${CHOSEN}}[$window]))`,
              legend: '{{edge}} by {{cause}}',
            },
          ],
          { unit: 'count', after: 'choosing a service that calls others' },
        ),
      ],
    },
    {
      title: 'Database',
      panels: [
        lines(
          'Statements',
          {
            expr: `sum by (db_operation_name) (rate(db_client_operation_duration_seconds_count{${CHOSEN}}[$window]))`,
            legend: '{{db_operation_name}}',
          },
          {
            after: 'choosing a service with a database',
          },
        ),
        lines(
          '95 % of statements take up to',
          {
            expr: quantileOf(0.95, 'db_client_operation_duration_seconds', ['db_operation_name'], CHOSEN),
            legend: '{{db_operation_name}}',
          },
          { unit: 's', after: 'choosing a service with a database' },
        ),
        lines(
          'Connections of the pool',
          {
            expr: `sum by (db_client_connection_pool_name, db_client_connection_state) (db_client_connection_count{${CHOSEN}})`,
            legend: '{{db_client_connection_pool_name}} {{db_client_connection_state}}',
          },
          { unit: 'count', after: 'choosing a service with a database' },
        ),
        lines(
          'Callers that wait for a connection',
          {
            expr: `sum by (db_client_connection_pool_name) (db_client_connection_pending_requests{${CHOSEN}})`,
            legend: '{{db_client_connection_pool_name}}',
          },
          { unit: 'count', after: 'choosing a service with a database' },
        ),
        lines(
          '95 % wait for a connection up to',
          {
            expr: quantileOf(
              0.95,
              'db_client_connection_wait_time_seconds',
              ['db_client_connection_pool_name'],
              CHOSEN,
            ),
            legend: '{{db_client_connection_pool_name}}',
          },
          { unit: 's', after: 'choosing a service with a database' },
        ),
        table(
          'Processes',
          `max by (instance, service_version, shop_track, process_pid) (target_info{${CHOSEN},shop_track=~"$track"})`,
          {
            width: 8,
          },
        ),
      ],
    },
  ],
};
