import { CliError, messageOf } from '../errors.ts';
import type { PlatformState } from '../platform/state.ts';

/** A series' labels; `__name__` is among them unless the expression has dropped it. */
export type Labels = Readonly<Record<string, string>>;

/** One value of an instant query. A scalar has no labels. */
export interface Sample {
  readonly labels: Labels;
  readonly timeMs: number;
  /** May be NaN or infinite, as in Prometheus. */
  readonly value: number;
}

/** One line of a range query. */
export interface Series {
  readonly labels: Labels;
  readonly points: readonly { readonly timeMs: number; readonly value: number }[];
}

/** An alert as Prometheus evaluates it; one that is inactive is not there. */
export interface ActiveAlert {
  readonly name: string;
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly activeAtMs: number;
  readonly value: number;
}

/** A rule that Prometheus evaluates. */
export interface Rule {
  readonly group: string;
  readonly name: string;
  readonly kind: 'alerting' | 'recording';
  readonly query: string;
  /** `unknown`: not evaluated yet. `err`: its last evaluation failed, see `lastError`. */
  readonly health: 'ok' | 'unknown' | 'err';
  readonly lastError?: string;
  /** Alerting rules. */
  readonly state?: 'inactive' | 'pending' | 'firing';
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly alerts: readonly ActiveAlert[];
}

export interface RangeOptions {
  readonly startMs: number;
  readonly endMs: number;
  /** At most 11,000 steps fit between start and end. */
  readonly stepMs: number;
}

/**
 * Prometheus' HTTP API, the part that 2.42 and 3.x have in common. Every call throws CliError: 4 when it does not respond,
 * 1 when it refuses an expression.
 */
export interface PrometheusClient {
  /** Of a vector or a scalar, now or at a time. */
  queryInstant(expression: string, atMs?: number): Promise<readonly Sample[]>;
  queryRange(expression: string, range: RangeOptions): Promise<readonly Series[]>;
  rules(): Promise<readonly Rule[]>;
  alerts(): Promise<readonly ActiveAlert[]>;
  /** `2.42.0+ds`. */
  version(): Promise<string>;
}

const TIMEOUT_MS = 10_000;
/** More than any question of ours gets. */
const MAX_BYTES = 32 << 20;

/**
 * The Prometheus of a running platform. Throws CliError: 3 where the platform runs without, 4 while it is not ready.
 */
export function requirePrometheus({ instances }: Pick<PlatformState, 'instances'>): PrometheusClient {
  const instance = instances.find(({ service }) => service === 'prometheus');
  if (instance?.url === undefined) {
    throw new CliError({
      code: 'alerts_off',
      what: 'the platform runs without alerts',
      why: 'Prometheus evaluates them, and it was not asked for',
      next: 'add it to the running platform: "shopctl up --with alerts"',
    });
  }
  if (instance.status !== 'ready') {
    throw new CliError({
      code: 'component_not_running',
      what: `Prometheus is ${instance.status}`,
      ...(instance.reason !== undefined && { why: instance.reason }),
      next: 'see "shopctl logs prometheus"; "shopctl start prometheus" starts it again',
    });
  }
  return createPrometheusClient(instance.url);
}

/** `url`: without the path of the API. `timeoutMs`: of one call. */
export function createPrometheusClient(url: string, timeoutMs = TIMEOUT_MS): PrometheusClient {
  const get = (path: string, parameters: Readonly<Record<string, string>> = {}) =>
    read(new URL(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`), timeoutMs);
  return {
    async queryInstant(query, atMs) {
      return samplesOf(await get('query', { query, ...(atMs !== undefined && { time: seconds(atMs) }) }), query);
    },
    async queryRange(query, { startMs, endMs, stepMs }) {
      const range = { start: seconds(startMs), end: seconds(endMs), step: seconds(stepMs) };
      const { result } = (await get('query_range', { query, ...range })) as { result: readonly RawSeries[] };
      return result.map(({ metric, values = [] }) => ({ labels: metric, points: values.map(pointOf) }));
    },
    async rules() {
      const { groups } = (await get('rules')) as { groups: readonly { name: string; rules: readonly RawRule[] }[] };
      return groups.flatMap(({ name, rules }) => rules.map((rule) => ruleOf(name, rule)));
    },
    async alerts() {
      const { alerts } = (await get('alerts')) as { alerts: readonly RawAlert[] };
      return alerts.map(alertOf);
    },
    async version() {
      return ((await get('status/buildinfo')) as { version: string }).version;
    },
  };
}

type RawPoint = readonly [seconds: number, value: string];

interface RawSeries {
  readonly metric: Labels;
  readonly value?: RawPoint;
  readonly values?: readonly RawPoint[];
}

interface RawAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
  readonly annotations?: Labels;
  readonly activeAt: string;
  readonly value: string;
}

interface RawRule {
  readonly name: string;
  readonly type: 'alerting' | 'recording';
  readonly query: string;
  readonly health: 'ok' | 'unknown' | 'err';
  readonly lastError?: string;
  readonly state?: 'inactive' | 'pending' | 'firing';
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly alerts?: readonly RawAlert[];
}

function samplesOf(data: unknown, expression: string): readonly Sample[] {
  const { resultType, result } = data as { resultType: string; result: unknown };
  if (resultType === 'vector') {
    return (result as readonly Required<RawSeries>[]).map(({ metric, value }) => ({
      labels: metric,
      ...pointOf(value),
    }));
  }
  if (resultType === 'scalar') return [{ labels: {}, ...pointOf(result as RawPoint) }];
  throw new CliError({
    code: 'query_failed',
    what: `"${expression}" cannot be asked for at one time`,
    why: `its value is a ${resultType}, not a vector or a scalar`,
    next: 'leave out the range, or ask for a range',
  });
}

function pointOf([time, value]: RawPoint): { timeMs: number; value: number } {
  return { timeMs: Math.round(time * 1000), value: numberOf(value) };
}

/** As Prometheus writes numbers. */
function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  return Number(text);
}

function alertOf({ state, labels, annotations = {}, activeAt, value }: RawAlert): ActiveAlert {
  const { alertname: name = '', ...others } = labels;
  return { name, state, labels: others, annotations, activeAtMs: Date.parse(activeAt), value: numberOf(value) };
}

function ruleOf(group: string, rule: RawRule): Rule {
  const { name, type, query, health, lastError, state, labels = {}, annotations = {}, alerts = [] } = rule;
  return {
    group,
    name,
    kind: type,
    query,
    health,
    ...(lastError && { lastError }),
    ...(state && { state }),
    labels,
    annotations,
    alerts: alerts.map(alertOf),
  };
}

function seconds(ms: number): string {
  return String(ms / 1000);
}

/** The `data` of a response. */
async function read(url: URL, timeoutMs: number): Promise<unknown> {
  const limit = AbortSignal.timeout(timeoutMs);
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, { signal: limit });
    status = response.status;
    text = await readText(response);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const why = limit.aborted ? `no response in ${timeoutMs / 1000} s` : messageOf((cause as Error).cause ?? cause);
    throw unreachable(url, why, cause);
  }
  const body = parse(text);
  if (body?.status === 'success') return body.data;
  if (body?.status === 'error' && typeof body.error === 'string') throw refused(url, body.error);
  throw unreachable(url, `it responded ${status}, and not as Prometheus does: ${text.slice(0, 200)}`);
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES / (1 << 20)} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): { status?: unknown; data?: unknown; error?: unknown } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Reported by the caller, with the text.
  }
}

function refused(url: URL, why: string): CliError {
  const expression = url.searchParams.get('query');
  return new CliError({
    code: 'query_failed',
    what: expression === null ? `Prometheus refuses ${url.pathname}` : `Prometheus refuses "${expression}"`,
    why,
  });
}

function unreachable({ origin }: URL, why: string, cause?: unknown): CliError {
  return new CliError({
    code: 'prometheus_unreachable',
    what: `Prometheus cannot be reached at ${origin}`,
    why,
    next: 'see "shopctl status" and "shopctl logs prometheus"',
    cause,
  });
}
