import { printable } from '../../output/printable.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import type { LabelSet } from '../../pager/label-set.ts';
import { writeLabels } from '../../pager/label-set.ts';
import type { PagerEvent } from '../../pager/page-event.ts';
import { type PagerView, type ShownAlert, type ShownSilence, writeMatchers } from '../../pager/pager-view.ts';

const ORDER = ['page', 'ticket', 'cause', 'none'] as const;

/** Pages first, of those the oldest; what is silenced or inhibited after the others. */
export function sortAlerts(alerts: readonly ShownAlert[]): readonly ShownAlert[] {
  const rank = ({ severity, state }: ShownAlert) =>
    ORDER.indexOf(severity) * 2 + (state === 'silenced' || state === 'inhibited' ? 1 : 0);
  return alerts.toSorted((a, b) => rank(a) - rank(b) || a.startsAt.localeCompare(b.startsAt));
}

/** The table of `alerts ls`. */
export function renderAlerts(alerts: readonly ShownAlert[], view: PagerView, style: Style): string {
  const lines = alerts.length === 0 ? ['no alert fires'] : [table(alerts, view, style)];
  for (const silence of view.silences) lines.push(style.dim(describeSilence(silence)));
  const problem = describePipeline(view);
  if (problem !== undefined) lines.push(style.yellow(problem));
  if ((view.webhook?.waiting ?? 0) > 0)
    lines.push(style.yellow(`${view.webhook?.waiting} messages wait for the webhook ${view.webhook?.to}`));
  return lines.join('\n');
}

function table(alerts: readonly ShownAlert[], { time }: PagerView, style: Style): string {
  return formatTable(
    ['SEVERITY', 'ALERT', 'STATE', 'AGE', 'LABELS', 'SUMMARY'],
    alerts.map((alert) => [
      alert.severity === 'page' ? style.red(alert.severity) : alert.severity,
      printable(alert.alertname),
      describeState(alert),
      formatAge(Date.parse(time) - Date.parse(alert.startsAt)),
      writeOtherLabels(alert.labels),
      printable(alert.annotations.summary ?? ''),
    ]),
  );
}

export function describeState({ state, acknowledged, escalatedAt }: ShownAlert): string {
  if (state === 'acknowledged') {
    const note = acknowledged?.note === undefined ? '' : `: ${printable(acknowledged.note)}`;
    return `acknowledged (${printable(acknowledged?.by ?? '')}${note})`;
  }
  return state === 'firing' && escalatedAt !== undefined ? 'firing, escalated' : state;
}

/** Beside the name and the severity, which have columns. */
export function writeOtherLabels({ alertname: _, severity: __, ...others }: LabelSet): string {
  return printable(writeLabels(others)) || '-';
}

export function describeSilence({ matchers, endsAt, startsAt, state, createdBy, comment }: ShownSilence): string {
  const when = state === 'pending' ? `from ${startsAt} until ${endsAt}` : `until ${endsAt}`;
  return `silenced: ${printable(writeMatchers(matchers))} ${when} by ${printable(createdBy)}: ${printable(comment)}`;
}

/** What keeps alerts from arriving; undefined where nothing does. */
export function describePipeline({ pipeline }: Pick<PagerView, 'pipeline'>): string | undefined {
  if (pipeline === 'lost')
    return 'alerts do not arrive: the alert Watchdog is absent; see "shopctl status" and "shopctl logs prometheus"';
  if (pipeline === 'unknown') return 'no alert has arrived yet: Prometheus is starting, or has no rules';
  if (pipeline === 'off') return 'no Prometheus evaluates rules: "shopctl up --with alerts"';
  return undefined;
}

/** `45s`, `12m`, `3h`, `2d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** One event as a row: time, what, alert, details. */
export function eventRow(event: PagerEvent): string[] {
  const alert = 'alertname' in event ? printable(event.alertname) : '-';
  const time = event.time.replace('T', ' ').replace(/\.\d+Z$/, '');
  return [time, event.type, alert, describeDetails(event)];
}

function describeDetails(event: PagerEvent): string {
  switch (event.type) {
    case 'fired':
      return join(event.severity, ofLabels(event), printable(event.summary ?? ''));
    case 'notified':
    case 'escalated':
      return join(ofLabels(event), printable(event.summary ?? ''));
    case 'acknowledged': {
      const note = event.note === undefined ? '' : `: ${printable(event.note)}`;
      return join(ofLabels(event), `by ${printable(event.by)}${note}`);
    }
    case 'resolved': {
      const why = event.unreported ? ', because it is not reported any more' : '';
      return join(ofLabels(event), `after ${formatAge(event.firedMs)}${why}`);
    }
    case 'silence': {
      const { matchers, endsAtMs, createdBy, comment } = event.silence;
      const until = event.did === 'ended' ? '' : ` until ${new Date(endsAtMs).toISOString()}`;
      return `${event.did}: ${printable(writeMatchers(matchers))}${until} by ${printable(createdBy)}: ${printable(comment)}`;
    }
    case 'delivered':
      return `event ${event.of}, attempt ${event.attempts}`;
    case 'undelivered':
      return `event ${event.of} given up after ${event.attempts} attempts: ${printable(event.why)}`;
    case 'pipeline':
      return `${event.status}: ${event.why}`;
  }
}

/** Events of older versions have none. */
function ofLabels({ labels = {} }: { readonly labels?: LabelSet }): string {
  const written = writeOtherLabels(labels);
  return written === '-' ? '' : written;
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('  ');
}
