import { writtenYaml } from './rule-files.ts';

/**
 * Where Alertmanager sends what, for production. Addresses and keys are the operator's: keys are read from files, and
 * `*.example` is to be replaced.
 */
export function alertmanagerFile(): string {
  return writtenYaml({
    route: {
      receiver: 'tickets',
      group_by: ['alertname', 'slo'],
      group_wait: '30s',
      group_interval: '5m',
      repeat_interval: '12h',
      routes: [
        // Two windows, or the time that a condition must hold, have been waited for already.
        {
          matchers: ['severity="page"'],
          receiver: 'pager',
          group_wait: '0s',
          group_interval: '1m',
          repeat_interval: '1h',
        },
        { matchers: ['severity="ticket"'], receiver: 'tickets' },
        // Seen on dashboards only.
        { matchers: ['severity="cause"'], receiver: 'dashboards-only' },
        {
          matchers: ['alertname="Watchdog"'],
          receiver: 'watchdog',
          group_wait: '0s',
          group_interval: '1m',
          repeat_interval: '1m',
        },
      ],
    },
    inhibit_rules: [
      { source_matchers: ['severity="page"'], target_matchers: ['severity="cause"'] },
      // The slow burn of what pages already.
      { source_matchers: ['severity="page"'], target_matchers: ['severity="ticket"'], equal: ['alertname', 'slo'] },
    ],
    receivers: [
      {
        name: 'pager',
        pagerduty_configs: [{ routing_key_file: '/etc/alertmanager/secrets/pager-routing-key', severity: 'critical' }],
      },
      { name: 'tickets', webhook_configs: [{ url: 'https://tickets.example/alerts', send_resolved: true }] },
      { name: 'watchdog', webhook_configs: [{ url: 'https://watchdog.example/ping', send_resolved: false }] },
      { name: 'dashboards-only' },
    ],
  });
}
