import { ATTAINED, BUDGET_LEFT, BURN_NOW, OBJECTIVE, seriesOf } from '../../cli/src/slo/series.ts';
import type { Slo } from '../../cli/src/slo/slo.ts';
import type { Page } from '../model.ts';
import { durationBy, failuresBy, lines, number, quantiles, requestsBy, table } from './queries.ts';

/** What is promised, what each service, edge and queue does, and which alerts fire. */
export function overviewPage(slos: readonly Slo[]): Page {
  return {
    id: 'overview',
    title: 'Overview',
    description: 'SLOs with their budgets, then requests, errors and durations of services, edges and queues.',
    variables: [],
    rows: [
      {
        title: 'Service level objectives',
        panels: [
          ...slos.flatMap((slo) => [
            number(`${slo.title}: budget left`, seriesOf(BUDGET_LEFT, slo), {
              unit: 'share',
              width: 6,
              description: `${slo.description} 100 % is the whole error budget of the time window; below 0 it is spent.`,
            }),
          ]),
          lines(
            'Burn rates',
            { expr: BURN_NOW, legend: '{{slo}}' },
            { unit: 'burn', width: 12, description: '1 spends the budget exactly by the end of the time window.' },
          ),
          lines(
            'Attained and objective',
            [
              { expr: ATTAINED, legend: '{{slo}}' },
              { expr: OBJECTIVE, legend: '{{slo}} objective' },
            ],
            { unit: 'share', width: 12 },
          ),
          table('Firing alerts', 'sum by (alertname, severity, slo, burn) (ALERTS{alertstate="firing"})', {
            width: 24,
          }),
        ],
      },
      {
        title: 'Services',
        panels: [
          lines('Requests', { expr: requestsBy('job'), legend: '{{job}}' }),
          lines('Failed requests', { expr: failuresBy('job'), legend: '{{job}}' }, { unit: 'share' }),
          lines('95 % of requests take up to', { expr: durationBy(0.95, 'job'), legend: '{{job}}' }, { unit: 's' }),
        ],
      },
      {
        title: 'Edges',
        panels: [
          lines(
            'Circuit breakers',
            { expr: 'max by (edge) (shop_breaker_state)', legend: '{{edge}}' },
            {
              unit: 'count',
              description: '0 closed, 1 half-open, 2 open.',
            },
          ),
          lines('Retries', { expr: 'sum by (edge) (rate(shop_call_retries_total[$window]))', legend: '{{edge}}' }),
          lines(
            '95 % of statements take up to',
            {
              expr: 'histogram_quantile(0.95, sum by (db_namespace, le) (rate(db_client_operation_duration_seconds_bucket[$window])))',
              legend: '{{db_namespace}}',
            },
            { unit: 's' },
          ),
        ],
      },
      {
        title: 'Queues and the way in',
        panels: [
          lines(
            'Messages that wait',
            { expr: 'max by (queue) (shop_queue_messages)', legend: '{{queue}}' },
            { unit: 'count' },
          ),
          lines(
            'Age of the oldest event in the outbox',
            {
              expr: 'max(shop_outbox_oldest_age_seconds)',
              legend: 'outbox',
            },
            { unit: 's' },
          ),
          lines(
            'Probe through the gateway',
            [{ expr: 'max(shop_probe_success)', legend: 'succeeds' }, ...quantiles('shop_probe_duration_seconds')],
            {
              unit: 's',
              description: '1 while a request passes the gateway, orders and its database, and how long that takes.',
            },
          ),
        ],
      },
    ],
  };
}
