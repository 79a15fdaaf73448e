import type { Project } from '../platform/project.ts';
import type { PagerEvent } from './page-event.ts';
import { createPagerClient } from './pager-client.ts';
import { pagerFiles, readHistory } from './pager-journal.ts';
import type { PagerView, ShownAlert } from './pager-view.ts';
import type { PipelineStatus } from './pipeline-watch.ts';

/** The pager of a running platform, for those that only look. */
export interface PagerReader {
  /** Throws CliError (4) without a supervisor. */
  view(): Promise<PagerView>;
  /** Every event that is kept, the oldest first. */
  history(): Promise<readonly PagerEvent[]>;
}

export function createPagerReader(project: Project): PagerReader {
  const client = createPagerClient(project);
  return { view: client.view, history: async () => (await readHistory(pagerFiles(project))).values };
}

/** Why an alert that is not there says nothing, and what to do; undefined where it would be there if it fired. Pure. */
export function missingAlerts(pipeline: PipelineStatus): string | undefined {
  switch (pipeline) {
    case 'working':
      return undefined;
    case 'off':
      return 'the platform runs without alerts: "shopctl up --with alerts" adds them';
    case 'unknown':
      return 'Prometheus runs, and no alert of it has arrived yet';
    case 'lost':
      return 'alerts do not arrive: see "shopctl status" and "shopctl logs prometheus"';
  }
}

/** `OutboxStalled (page, acknowledged), TelemetryLost (ticket)`; the one that always fires is left out. Pure. */
export function describeAlerts(alerts: readonly Pick<ShownAlert, 'alertname' | 'severity' | 'state'>[]): string {
  const shown = alerts.filter(({ severity }) => severity !== 'none');
  const words = shown.map(({ alertname, severity, state }) => {
    return `${alertname} (${[severity, ...(state === 'firing' ? [] : [state])].join(', ')})`;
  });
  return [...new Set(words)].join(', ') || 'none';
}
