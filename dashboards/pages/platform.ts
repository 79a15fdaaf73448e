import type { Page } from '../model.ts';
import { instanceVariable, lines, quantiles, table, trackVariable } from './queries.ts';

/** The processes themselves, and whether what they report arrives. */
export const platformPage: Page = {
  id: 'platform',
  title: 'Platform',
  description: 'Processes with their versions and restarts, the probe, and the telemetry of all of them.',
  variables: [trackVariable, instanceVariable],
  rows: [
    {
      title: 'Processes',
      panels: [
        table(
          'Processes',
          'max by (job, instance, service_version, shop_track, process_pid) (target_info{shop_track=~"$track",instance=~"$instance"})',
        ),
        lines(
          'Processes by version and track',
          {
            expr: 'count by (job, service_version, shop_track) (target_info{shop_track=~"$track",instance=~"$instance"})',
            legend: '{{job}} {{service_version}} {{shop_track}}',
          },
          { unit: 'count', width: 12, description: 'A deploy has two lines of a service side by side.' },
        ),
        lines(
          'Restarts',
          {
            expr: 'max by (instance) (resets(shop_telemetry_spans_total{state="started",instance=~"$instance"}[$window]))',
            legend: '{{instance}}',
          },
          { unit: 'count', width: 12 },
        ),
        table('Causes', 'sum by (alertname, job, instance, edge) (ALERTS{alertstate="firing",severity="cause"})', {
          width: 24,
          after: 'an alert with the severity cause',
        }),
      ],
    },
    {
      title: 'The probe',
      panels: [
        lines('Success', { expr: 'max(shop_probe_success)', legend: 'success' }, { unit: 'count', width: 12 }),
        lines('Duration', quantiles('shop_probe_duration_seconds'), { unit: 's', width: 12 }),
      ],
    },
    {
      title: 'Telemetry',
      panels: [
        lines('Spans', {
          expr: 'sum by (state) (rate(shop_telemetry_spans_total{instance=~"$instance"}[$window]))',
          legend: '{{state}}',
        }),
        lines(
          'Dropped spans',
          {
            expr: 'sum by (instance) (increase(shop_telemetry_spans_total{state="dropped",instance=~"$instance"}[$window]))',
            legend: '{{instance}}',
          },
          { unit: 'count' },
        ),
        lines(
          'Log lines',
          { expr: 'sum by (state) (rate(shop_telemetry_logs_total[$window]))', legend: '{{state}}' },
          {
            after: 'shopctl up with the export of log lines',
          },
        ),
        table('Processes that ended in order', 'max by (job, instance) (shop_telemetry_closed)', {
          after: 'a process that ended in the last 15 s',
        }),
      ],
    },
  ],
};
