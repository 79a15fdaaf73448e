import type { Profile } from '../../cli/src/slo/profiles.ts';
import { type Alert, and } from './alert.ts';

export function causes(profile: Profile): readonly Alert[] {
  const window = profile.hasSupervisor ? '1m' : '5m';
  const waiting = profile.hasSupervisor ? '10s:1s' : '1m:15s';
  const cause = (alert: Omit<Alert, 'severity' | 'slo'>): Alert => ({ ...alert, severity: 'cause', slo: 'none' });
  const retries = `sum by (edge) (increase(shop_call_retries_total[${window}]))`;
  return [
    cause({
      name: 'BreakerOpen',
      expr: 'max by (job, edge) (shop_breaker_state) == 2',
      summary: 'The circuit breaker of an edge is open',
      impact: 'Calls of the edge fail immediately; orders that need it are cancelled or refused',
      dashboard: 'service',
    }),
    cause({
      name: 'InstanceRestarting',
      // Counters do not show it: one that works off a backlog is beyond the last value of the process before when it is first scraped.
      expr: [
        'count by (job, instance) (',
        'count by (job, instance, process_creation_time) (',
        `last_over_time(target_info{process_creation_time!=""}[${window}]))) > 1`,
      ].join(''),
      summary: 'An instance was started again in the last minutes',
      impact: 'Calls in flight may have failed; sagas of the instance are recovered',
      dashboard: 'platform',
    }),
    cause({
      name: 'RetriesHigh',
      expr: and(
        `${retries} > 0.1 * scalar(sum(increase(http_server_request_duration_seconds_count{job="gateway",http_request_method="POST"}[${window}])))`,
        `${retries} >= 3`,
      ),
      summary: 'More than a tenth of the orders needs a retry on an edge',
      impact: 'Customers wait longer; the callee has more load than it would have without the failures',
      dashboard: 'service',
    }),
    cause({
      name: 'DatabaseConnectionsHigh',
      expr: `min_over_time(max by (job, db_client_connection_pool_name) (db_client_connection_pending_requests)[${waiting}]) > 0`,
      summary: 'Callers wait for a connection of a pool all the time',
      impact: 'Requests of the service are slow, or fail after 1.5 s without a connection',
      dashboard: 'service',
    }),
    cause({
      name: 'DeployInProgress',
      expr: [
        'count by (job) (count by (job, service_version) (target_info)) > 1',
        'or count by (job) (count by (job, shop_track) (target_info)) > 1',
      ].join('\n'),
      summary: 'Two versions or tracks of a service run side by side',
      impact: 'What customers notice may come from the new version',
      dashboard: 'platform',
    }),
  ];
}

export const watchdog: Alert = {
  name: 'Watchdog',
  severity: 'none',
  expr: 'vector(1)',
  summary: 'Alerts are evaluated and delivered',
  impact: 'None while it fires. Without it, no alert would reach anyone',
  dashboard: 'overview',
  slo: 'none',
};
