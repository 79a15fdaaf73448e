/**
 * Names and labels as the OpenTelemetry collector's Prometheus exporter makes them, so that one set of rules and
 * dashboards serves the collector in `deploy/` and a supervisor's `GET /metrics`.
 *
 * Source: OpenTelemetry specification, "Prometheus and OpenMetrics Compatibility"; prometheus/otlptranslator.
 */

/** The words for the UCUM units that Prometheus knows; `1` and annotations such as `{order}` have none. */
const unitWords: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '%': 'percent',
};

const perWords: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
};

export type MetricKind = 'counter' | 'upDownCounter' | 'gauge' | 'histogram';

/** `shop.saga.duration` in `ms` becomes `shop_saga_duration_milliseconds`; a counter ends in `_total`. */
export function metricName(name: string, unit: string, kind: MetricKind): string {
  const words = wordsOf(name);
  const [main = '', per = ''] = unit.split('/', 2).map((part) => part.trim());
  const add = (word: string) => {
    if (word !== '' && !words.includes(word)) words.push(word);
  };
  add(wordOf(main, unitWords));
  const perWord = wordOf(per, perWords);
  if (perWord !== '' && !words.includes(perWord)) words.push('per', perWord);
  if (kind === 'counter') moveToEnd(words, 'total');
  if (kind === 'gauge' && unit === '1') moveToEnd(words, 'ratio');
  const joined = words.join('_');
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

/** `http.request.method` becomes `http_request_method`. */
export function labelName(attribute: string): string {
  const name = attribute.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  if (/^\d/.test(name)) return `key_${name}`;
  return name.startsWith('_') && !name.startsWith('__') ? `key${name}` : name;
}

function wordsOf(name: string): string[] {
  return name.split(/[^a-zA-Z0-9:]+/).filter((word) => word !== '');
}

/** Units outside the list are used as they are written; those with braces are annotations. */
function wordOf(unit: string, words: Readonly<Record<string, string>>): string {
  if (unit === '' || unit === '1' || /[{}]/.test(unit)) return '';
  return words[unit] ?? wordsOf(unit).join('_');
}

function moveToEnd(words: string[], word: string): void {
  const at = words.indexOf(word);
  if (at !== -1) words.splice(at, 1);
  words.push(word);
}
