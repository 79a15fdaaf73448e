import exec from 'k6/execution';
import http, { type RefinedParams, type RefinedResponse } from 'k6/http';
import { Rate, Trend } from 'k6/metrics';
import { runId, shopUrl } from './environment.ts';
import { CLIENT_TIMEOUT_MS } from './k6-options.ts';
import type { OrderTemplate } from './order-mix.ts';
import type { OrderRecord } from './record.ts';

/** ms from sending to the complete response, connecting included. */
const duration = new Trend('order_duration', true);
/** Any HTTP response, whatever its status. */
const responded = new Rate('order_responded');
/** The response that a healthy system gives. */
const expected = new Rate('order_expected');

/** k6's own code for a request that was given up (https://grafana.com/docs/k6/latest/javascript-api/error-codes/). */
const TIMEOUT_CODE = 1050;

type Response = RefinedResponse<'text'>;

interface Sent {
  readonly order: OrderTemplate;
  readonly key: string;
  readonly at: number;
  readonly isFirst: boolean;
  /** Other responses that are correct for a repeated request. */
  readonly alsoExpected?: (response: Response) => boolean;
}

/** Phase and number of the order that this iteration is about. */
export function turn(): { readonly phase: string; readonly index: number } {
  return { phase: exec.scenario.name, index: exec.scenario.iterationInTest };
}

/** The same for every request of this iteration, and different in every run. */
function keyOfTurn(): string {
  const { phase, index } = turn();
  return `${runId}-${phase}-${index}`;
}

/** Headers of a request beside its own. */
type Headers = Readonly<Record<string, string>>;

/** Places an order and records its outcome. */
export function placeOrder(order: OrderTemplate, headers: Headers = {}): OrderRecord {
  return send(order, true, headers);
}

/** Repeats an order with the same key, and records the outcome of that request. */
export function repeatOrder(order: OrderTemplate): OrderRecord {
  return send(order, false);
}

function send(order: OrderTemplate, isFirst: boolean, headers: Headers = {}): OrderRecord {
  const key = keyOfTurn();
  const at = Date.now();
  const response = http.post(`${shopUrl}/api/orders`, order.body, paramsOf(key, headers));
  return record(response, { order, key, at, isFirst });
}

/** Sends one order several times concurrently, and records each outcome; the others repeat the first. */
export function placeRepeatedly(
  order: OrderTemplate,
  times: number,
  alsoExpected: (response: Response) => boolean,
): OrderRecord[] {
  const key = keyOfTurn();
  const at = Date.now();
  const request = { method: 'POST', url: `${shopUrl}/api/orders`, body: order.body, params: paramsOf(key) };
  const responses = http.batch(Array.from({ length: times }, () => request)) as Response[];
  return responses.map((response, index) => record(response, { order, key, at, isFirst: index === 0, alsoExpected }));
}

function paramsOf(key: string, headers: Headers = {}): RefinedParams<'text'> {
  return {
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': key },
    timeout: `${CLIENT_TIMEOUT_MS}ms`,
    responseType: 'text',
    // A tag of k6's metrics; without it each path would be a series.
    tags: { name: 'place order' },
  };
}

function record(response: Response, { order, key, at, isFirst, alsoExpected = () => false }: Sent): OrderRecord {
  const { blocked, connecting, duration: waited } = response.timings;
  const tookMs = blocked + connecting + waited;
  const body = bodyOf(response);
  const isExpected = isAsExpected(order, response.status, body) || alsoExpected(response);
  duration.add(tookMs);
  responded.add(response.status !== 0);
  expected.add(isExpected);
  const outcome: OrderRecord = {
    ...turn(),
    key,
    at,
    tookMs: Math.round(tookMs * 10) / 10,
    http: response.status,
    kind: order.kind,
    distinctProducts: order.distinctProducts,
    expected: isExpected,
    opened: connecting > 0,
    isFirst,
    orderId: textOf(body.id),
    status: textOf(body.status),
    reason: textOf(body.reason),
    code: response.status === 0 ? transportCode(response) : textOf(body.code),
    traceId: response.headers.Traceparent?.split('-')[1],
  };
  console.log(JSON.stringify(outcome));
  return outcome;
}

function isAsExpected(
  { expected: wanted }: OrderTemplate,
  status: number,
  body: Readonly<Record<string, unknown>>,
): boolean {
  const { http: code, ...fields } = wanted;
  return status === code && Object.entries(fields).every(([name, value]) => body[name] === value);
}

/** Empty for a response that is not a JSON object: it is then not the expected one. */
export function bodyOf({ body }: Response): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body ?? '');
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `status` of a problem is a number. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function transportCode({ error_code: code }: Response): string {
  return code === TIMEOUT_CODE ? 'timeout' : 'unreachable';
}
