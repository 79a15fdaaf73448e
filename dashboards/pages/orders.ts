import type { Page } from '../model.ts';
import { lines, number, quantiles, table } from './queries.ts';

/** What becomes of orders, and what their sagas have left to do. */
export const ordersPage: Page = {
  id: 'orders',
  title: 'Orders and the saga',
  description: 'Outcomes of orders, durations of sagas, compensations and recoveries.',
  variables: [],
  rows: [
    {
      title: 'Outcomes',
      panels: [
        lines(
          'Orders by outcome',
          { expr: 'sum by (outcome) (rate(shop_orders_outcomes_total[$window]))', legend: '{{outcome}}' },
          { width: 12 },
        ),
        lines(
          'Sagas by status',
          { expr: 'sum by (status) (rate(shop_sagas_total[$window]))', legend: '{{status}}' },
          { width: 12 },
        ),
        lines(
          'Responses to orders',
          {
            expr: 'sum by (http_response_status_code) (rate(http_server_request_duration_seconds_count{job="gateway",http_request_method="POST"}[$window]))',
            legend: '{{http_response_status_code}}',
          },
          { width: 12 },
        ),
        lines(
          'Durations of responses',
          quantiles('http_server_request_duration_seconds', [], 'job="gateway",http_request_method="POST"'),
          {
            unit: 's',
            width: 12,
          },
        ),
      ],
    },
    {
      title: 'The saga',
      panels: [
        lines('Durations of sagas', quantiles('shop_saga_duration_milliseconds', ['status']), {
          unit: 'ms',
          width: 12,
        }),
        lines(
          'Sagas in flight',
          { expr: 'sum by (instance) (shop_sagas_active)', legend: '{{instance}}' },
          { unit: 'count', width: 6 },
        ),
        lines(
          'Age of the oldest open order',
          { expr: 'max(shop_sagas_open_oldest_age_seconds)', legend: 'oldest' },
          { unit: 's', width: 6 },
        ),
        lines(
          'Sagas adopted from other instances',
          { expr: 'sum by (instance) (increase(shop_saga_recoveries_total[$window]))', legend: '{{instance}}' },
          {
            unit: 'count',
          },
        ),
      ],
    },
    {
      title: 'Compensations',
      panels: [
        number('Orders with compensations left', 'max(shop_compensations_waiting)', { width: 6 }),
        lines(
          'Age of the oldest of them',
          { expr: 'max(shop_compensations_oldest_age_seconds)', legend: 'oldest' },
          { unit: 's' },
        ),
        lines(
          'Compensations to be tried again',
          {
            expr: 'sum by (compensation) (rate(shop_compensation_failures_total[$window]))',
            legend: '{{compensation}}',
          },
          { width: 10 },
        ),
      ],
    },
    {
      title: 'Feature flags',
      panels: [
        lines(
          'Confirmations by variant',
          {
            expr: 'sum by (flag, variant, outcome) (rate(shop_flag_outcomes_total[$window]))',
            legend: '{{flag}} {{variant}} {{outcome}}',
          },
          { width: 12 },
        ),
        lines(
          'Durations of confirmations by variant',
          {
            expr: 'histogram_quantile(0.95, sum by (le, flag, variant) (rate(shop_flag_duration_seconds_bucket[$window])))',
            legend: 'p95 {{flag}} {{variant}}',
          },
          { unit: 's', width: 12, after: 'a flag that is on for a share of the orders' },
        ),
      ],
    },
    {
      title: 'The audit',
      panels: [
        table('Violations', 'max by (invariant, kind) (shop_audit_violations)', {
          width: 12,
          after: 'shopctl up --audit',
          description: 'Of recent orders, while they are audited.',
        }),
      ],
    },
  ],
};
