import type { MetricReport, Series } from './metric-store.ts';
import { labelName, metricName } from './prometheus-names.ts';

/** Prometheus' text format, version 0.0.4. */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** As `metric_expiration` of the collector in `deploy/`: a process reports every second. */
const EXPIRES_AFTER_MS = 15_000;

/** Resource attributes that are `job` and `instance`. */
const identity = new Set(['service.namespace', 'service.name', 'service.instance.id']);

type Labels = readonly (readonly [name: string, value: string])[];

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly lines: string[];
}

/**
 * The latest reports as Prometheus scrapes them: the names and labels of {@link metricName}. `job` and `instance` are
 * of the process, `otel_scope_*` of the meter, and one `target_info` a process has the other resource attributes. A
 * process that has not reported for 15 s is left out. Times are left to the scraper.
 */
export function prometheusText(reports: readonly MetricReport[], now: number): string {
  const families = new Map<string, Family>();
  const familyOf = (name: string, type: Family['type'], help: string) => {
    const family = families.get(name) ?? { type, help, lines: [] };
    families.set(name, family);
    return family;
  };
  for (const { source, resource, series } of countingOfEach(reports, now)) {
    const namespace = resource['service.namespace'];
    const process: Labels = [
      ['job', namespace === undefined ? source.service : `${textOf(namespace)}/${source.service}`],
      ['instance', source.instance],
    ];
    const info = Object.entries(resource).filter(([key]) => !identity.has(key));
    if (info.length > 0) {
      const labels = [...process, ...info.map(([key, value]) => [labelName(key), textOf(value)] as const)];
      familyOf('target_info', 'gauge', 'Target metadata').lines.push(lineOf('target_info', labelsText(labels), 1));
    }
    for (const one of series) {
      const name = metricName(one.name, one.unit, one.type);
      const type = one.type === 'upDownCounter' ? 'gauge' : one.type;
      const family = familyOf(name, type, one.description);
      // A name stands for one type: of two meters that differ the first is kept, as the collector does.
      if (family.type === type) family.lines.push(...linesOf(name, one, process));
    }
  }
  return [...families]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { type, help, lines }]) => {
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}

/**
 * A process that is restarted reports as the same instance, and both report while one ends. One of them counts: a counter that went back and
 * forth would look as if it began again each time. It is the one that began first, until it is stale and the other reports. What it counted
 * last is scraped by then, and its successor's counter, seen first, has all that it counted. One that does not get ready ends before
 * its predecessor, and never counts.
 */
function countingOfEach(reports: readonly MetricReport[], now: number): MetricReport[] {
  const counting = new Map<string, MetricReport>();
  for (const report of reports) {
    if (report.isSucceeded || now - report.receivedAt > EXPIRES_AFTER_MS) continue;
    const key = `${report.source.service} ${report.source.instance}`;
    const known = counting.get(key);
    if (known === undefined || report.firstReceivedAt < known.firstReceivedAt) counting.set(key, report);
  }
  return [...counting.values()];
}

function linesOf(name: string, series: Series, process: Labels): string[] {
  // Once for all buckets: there are a dozen.
  const labels = labelsText([
    ...Object.entries(series.attributes).map(([key, value]) => [labelName(key), textOf(value)] as const),
    ...process,
    ['otel_scope_name', series.scope],
    ['otel_scope_schema_url', ''],
    ['otel_scope_version', ''],
  ]);
  if (series.type !== 'histogram') return [lineOf(name, labels, series.value)];
  let below = 0;
  const buckets = series.bounds.map((bound, index) => {
    below += series.buckets[index] ?? 0;
    return lineOf(`${name}_bucket`, `${labels},le="${bound}"`, below);
  });
  return [
    ...buckets,
    lineOf(`${name}_bucket`, `${labels},le="+Inf"`, series.count),
    lineOf(`${name}_sum`, labels, series.sum),
    lineOf(`${name}_count`, labels, series.count),
  ];
}

/** Labels by name. Attributes whose names become the same label share it, their values joined by `;`, as the specification says. */
function labelsText(labels: Labels): string {
  const merged = new Map<string, string>();
  for (const [label, text] of labels) {
    const known = merged.get(label);
    merged.set(label, known === undefined ? text : `${known};${text}`);
  }
  return [...merged]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    .join(',');
}

function lineOf(name: string, labels: string, value: number): string {
  return `${name}{${labels}} ${numberText(value)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
