import { nameOf, type ReportedAlert, severityOf } from '../alert.ts';
import { type LabelSet, withoutEmpty } from '../label-set.ts';
import { type Matcher, matchesAll } from '../matcher.ts';
import type { AlertView } from '../pager.ts';
import type { Pattern } from '../pattern.ts';
import { WATCHDOG } from '../pipeline-watch.ts';
import { isAbsent, labelsOf, listOf, missing, objectOf, stringOf, timeOf } from './read-fields.ts';
import { invalid, refused } from './responses.ts';

const MOST_ALERTS_OF_A_REQUEST = 1_000;
/** Of names and values of one label set, bytes. */
const MOST_LABEL_BYTES = 32 * 1024;

/** The alerts that can be taken, and why others cannot: the good ones are taken beside the bad. */
export interface ReadAlerts {
  readonly alerts: readonly ReportedAlert[];
  readonly problems: readonly string[];
}

/** Reads `postableAlerts`. Throws RefusedError where the body is not of that type at all. */
export function readAlerts(body: unknown): ReadAlerts {
  const list = listOf(body, 'alerts', 'the body');
  if (list.length > MOST_ALERTS_OF_A_REQUEST)
    throw refused(400, `more than ${MOST_ALERTS_OF_A_REQUEST} alerts in one request`);
  const alerts = list.map(readAlert);
  const problems = alerts.map(problemOf);
  return {
    alerts: alerts.filter((_, index) => problems[index] === undefined),
    problems: problems.filter((problem) => problem !== undefined),
  };
}

function readAlert(value: unknown, index: number): ReportedAlert {
  const fields = objectOf(value, 'alerts', `${index}`);
  if (isAbsent(fields.labels)) throw missing(`${index}.labels`);
  const generatorUrl = stringOf(fields.generatorURL, 'alerts', `${index}.generatorURL`) ?? '';
  if (generatorUrl !== '' && !isUri(generatorUrl))
    throw invalid(422, 601, `${index}.generatorURL in body must be of type uri: ${JSON.stringify(generatorUrl)}`);
  return {
    labels: withoutEmpty(labelsOf(fields.labels, 'alerts', `${index}.labels`)),
    annotations: labelsOf(fields.annotations, 'alerts', `${index}.annotations`),
    generatorUrl,
    startsAtMs: timeOf(fields.startsAt, 'alerts', `${index}.startsAt`),
    endsAtMs: timeOf(fields.endsAt, 'alerts', `${index}.endsAt`),
  };
}

/** An absolute one, or a path. Source: Go, `net/url`, `ParseRequestURI`. */
function isUri(text: string): boolean {
  return !/[\s\p{Cc}]/u.test(text) && (text.startsWith('/') || URL.canParse(text));
}

/** Source: Alertmanager, `alert/alert.go` (`Validate`); the size is our limit. */
function problemOf({ labels, annotations = {}, startsAtMs, endsAtMs }: ReportedAlert): string | undefined {
  if (startsAtMs !== undefined && endsAtMs !== undefined && endsAtMs < startsAtMs)
    return 'start time must be before end time';
  if (Object.keys(labels).length === 0) return 'at least one label pair required';
  const ofLabels = problemOfSet(labels);
  if (ofLabels !== undefined) return `invalid label set: ${ofLabels}`;
  const ofAnnotations = problemOfSet(annotations);
  return ofAnnotations === undefined ? undefined : `invalid annotations: ${ofAnnotations}`;
}

function problemOfSet(set: LabelSet): string | undefined {
  let bytes = 0;
  for (const [name, value] of Object.entries(set)) {
    if (name === '' || !name.isWellFormed()) return `invalid name ${JSON.stringify(name)}`;
    if (!value.isWellFormed()) return `invalid value ${JSON.stringify(value)}`;
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  return bytes > MOST_LABEL_BYTES ? `more than ${MOST_LABEL_BYTES} bytes` : undefined;
}

/** Which alerts a request asks for. */
export interface AlertQuery {
  readonly matchers: readonly Matcher[];
  readonly receiver: Pattern | undefined;
  readonly receiverMatchers: readonly Matcher[];
  readonly active: boolean;
  readonly silenced: boolean;
  readonly inhibited: boolean;
  readonly muted: boolean;
}

export function isAskedFor(view: AlertView, query: AlertQuery): boolean {
  const { silencedBy, inhibitedBy } = view;
  if (query.receiver && !query.receiver.test(receiverOf(view))) return false;
  // Our receivers have no labels.
  if (query.receiverMatchers.length > 0 && !matchesAll(query.receiverMatchers, {})) return false;
  if (!matchesAll(query.matchers, view.alert.labels)) return false;
  if (!query.active && !isSuppressed(view)) return false;
  return (query.silenced || silencedBy.length === 0) && (query.inhibited || inhibitedBy.length === 0);
}

function isSuppressed({ silencedBy, inhibitedBy }: AlertView): boolean {
  return silencedBy.length > 0 || inhibitedBy.length > 0;
}

/** Those of dashboards/alertmanager.yml, so that a query means the same here and there. */
export const RECEIVERS = ['pager', 'tickets', 'dashboards-only', 'watchdog'] as const;

/** Who gets an alert, as the route in `status` decides. */
function receiverOf({ alert }: Pick<AlertView, 'alert'>): (typeof RECEIVERS)[number] {
  if (nameOf(alert) === WATCHDOG) return 'watchdog';
  const severity = severityOf(alert);
  if (severity === 'cause') return 'dashboards-only';
  return severity === 'page' ? 'pager' : 'tickets';
}

/** A `gettableAlert`. */
export function writeAlert(view: AlertView): object {
  const { alert, silencedBy, inhibitedBy } = view;
  const { fingerprint, labels, annotations, generatorUrl, startsAtMs, endsAtMs, updatedAtMs } = alert;
  return {
    annotations,
    endsAt: writeTime(endsAtMs),
    fingerprint,
    receivers: [{ name: receiverOf(view) }],
    startsAt: writeTime(startsAtMs),
    status: { inhibitedBy, mutedBy: [], silencedBy, state: isSuppressed(view) ? 'suppressed' : 'active' },
    updatedAt: writeTime(updatedAtMs),
    ...(generatorUrl !== '' && { generatorURL: generatorUrl }),
    labels,
  };
}

/** `alertGroups`: one for each receiver and alert name, as the route in `status` groups them. */
export function writeGroups(views: readonly AlertView[]): readonly object[] {
  const groups = Map.groupBy(views, (view) => JSON.stringify([view.alert.labels.alertname ?? '', receiverOf(view)]));
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => {
      const first = members[0] as AlertView;
      const { alertname } = first.alert.labels;
      const receiver = receiverOf(first);
      return {
        alerts: members.map(writeAlert),
        labels: alertname === undefined ? {} : { alertname },
        receiver: { name: receiver },
        routeLabels: {},
      };
    });
}

export function writeTime(ms: number): string {
  return new Date(ms).toISOString();
}
