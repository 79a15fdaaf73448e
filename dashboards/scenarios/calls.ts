import type { Profile } from '../../cli/src/slo/profiles.ts';
import { counter, fires, gauge, type ScenarioFile, series, silent } from '../scenario.ts';
import { orders, posts } from './inputs.ts';

export function retriesHigh({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const window = (hasSupervisor ? 60 : 300) / stepS;
  const after = window + Math.ceil(keepS / stepS) + 2;
  const retries = (values: string) => series('shop_call_retries_total', { ...orders, edge: 'orders-stock' }, values);
  const edge = { edge: 'orders-stock' };
  const at = (steps: number) => steps * stepS;
  return {
    name: 'RetriesHigh',
    alert: 'RetriesHigh',
    stepS,
    scenarios: [
      {
        name: 'a share just below, just above, and none',
        series: [
          posts('201', counter([4 * window + after, 50])),
          retries(counter([2 * window + 2, 4], [2 * window, 6], [after, 0])),
        ],
        expect: [
          silent(at(2 * window + 2), '8 % of the orders'),
          fires(at(4 * window + 2), '12 % of the orders', edge),
          silent(at(4 * window + 2 + after), 'resolved'),
        ],
      },
      {
        name: 'two retries in the window, and few orders',
        series: [posts('201', counter([3 * window, 10 / window])), retries(counter([3 * window, 2 / window]))],
        expect: [silent(at(3 * window), 'too few to say anything')],
      },
      {
        name: 'four retries in the window, and few orders',
        series: [posts('201', counter([3 * window, 10 / window])), retries(counter([3 * window, 4 / window]))],
        expect: [fires(at(3 * window), 'enough', edge)],
      },
      { name: 'no data', series: [], expect: [silent(at(2), 'nothing is reported')] },
    ],
  };
}

export function connectionsHigh({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 1 : 15;
  const window = hasSupervisor ? 10 : 4;
  const pool = '127.0.0.1:5432/orders';
  const after = Math.ceil(keepS / stepS) + 3;
  const kept = { job: 'orders', db_client_connection_pool_name: pool };
  return {
    name: 'DatabaseConnectionsHigh',
    alert: 'DatabaseConnectionsHigh',
    stepS,
    scenarios: [
      {
        name: 'callers wait now and then, then all the time',
        series: [
          series(
            'db_client_connection_pending_requests',
            { ...orders, db_client_connection_pool_name: pool },
            gauge([window + 3, 0], [window - 2, 3], [1, 0], [window + 3, 2], [after + window, 0]),
          ),
        ],
        expect: [
          silent((2 * window + 2 + Math.floor(window * 0.7)) * stepS, 'not during the whole window'),
          fires((3 * window + 4) * stepS, 'during the whole window', kept),
          silent((4 * window + 4 + after) * stepS, 'resolved'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}
