import { VERSION } from '../../version.ts';
import { writeTime } from './alerts.ts';

/** What the pager does with alerts, in the words of Alertmanager's configuration; `amtool config routes` reads it. */
const CONFIGURATION = `global:
  resolve_timeout: 5m
route:
  receiver: record
  group_by: [alertname]
  group_wait: 0s
  routes:
    - receiver: page
      matchers: [severity="page"]
    - receiver: ticket
      matchers: [severity="ticket"]
inhibit_rules:
  - source_matchers: [severity="page"]
    target_matchers: [severity="cause"]
receivers:
  - name: page
  - name: ticket
  - name: record
`;

export const RECEIVERS = ['page', 'ticket', 'record'] as const;

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
