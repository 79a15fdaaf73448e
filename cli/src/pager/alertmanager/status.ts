import { VERSION } from '../../version.ts';
import { writeTime } from './alerts.ts';

/** What the pager does with alerts; its receivers are those of dashboards/alertmanager.yml. In the words of Alertmanager's configuration; `amtool config routes` reads it. */
const CONFIGURATION = `global:
  resolve_timeout: 5m
route:
  receiver: tickets
  group_by: [alertname]
  group_wait: 0s
  routes:
    - receiver: pager
      matchers: [severity="page"]
    - receiver: tickets
      matchers: [severity="ticket"]
    - receiver: dashboards-only
      matchers: [severity="cause"]
    - receiver: watchdog
      matchers: [alertname="Watchdog"]
inhibit_rules:
  - source_matchers: [severity="page"]
    target_matchers: [severity="cause"]
receivers:
  - name: pager
  - name: tickets
  - name: dashboards-only
  - name: watchdog
`;

/** `alertmanagerStatus`: one instance without a cluster. */
export function writeStatus(startedAtMs: number): object {
  return {
    cluster: { peers: [], status: 'disabled' },
    config: { original: CONFIGURATION },
    uptime: writeTime(startedAtMs),
    versionInfo: {
      branch: 'shopctl',
      buildDate: '',
      buildUser: '',
      goVersion: '',
      revision: '',
      version: VERSION,
    },
  };
}
