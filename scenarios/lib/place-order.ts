import exec from 'k6/execution';
import http, { type RefinedParams, type RefinedResponse } from 'k6/http';
import { Rate, Trend } from 'k6/metrics';
import { runId, shopUrl } from './environment.ts';
import { CLIENT_TIMEOUT_MS } from './k6-options.ts';
import type { OrderRecord } from './record.ts';
import type { Wish } from './wishes.ts';

/** ms from sending to the whole answer, connecting included. */
const duration = new Trend('order_duration', true);
/** Any answer of HTTP, whatever it says. */
const answered = new Rate('order_answered');
/** The answer that a healthy system gives. */
const expected = new Rate('order_expected');

/** k6's own code for a request that was given up (https://grafana.com/docs/k6/latest/javascript-api/error-codes/). */
const TIMEOUT_CODE = 1050;

type Answer = RefinedResponse<'text'>;

interface Sent {
  readonly wish: Wish;
  readonly key: string;
  readonly at: number;
  readonly isFirst: boolean;
  /** Other answers that are right too, of a repeated request. */
  readonly alsoExpected?: (answer: Answer) => boolean;
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

/** Places an order and tells what became of it. */
export function placeOrder(wish: Wish): OrderRecord {
  return send(wish, true);
}

/** Sends it once more, with the same key, and tells what became of that. */
export function repeatOrder(wish: Wish): OrderRecord {
  return send(wish, false);
}

function send(wish: Wish, isFirst: boolean): OrderRecord {
  const key = keyOfTurn();
  const at = Date.now();
  const answer = http.post(`${shopUrl}/api/orders`, wish.body, paramsOf(key));
  return tell(answer, { wish, key, at, isFirst });
}

/** Sends one order several times at once, and tells of each; the first is the one that the others repeat. */
export function placeRepeatedly(wish: Wish, times: number, alsoExpected: (answer: Answer) => boolean): OrderRecord[] {
  const key = keyOfTurn();
  const at = Date.now();
  const request = { method: 'POST', url: `${shopUrl}/api/orders`, body: wish.body, params: paramsOf(key) };
  const answers = http.batch(Array.from({ length: times }, () => request)) as Answer[];
  return answers.map((answer, index) => tell(answer, { wish, key, at, isFirst: index === 0, alsoExpected }));
}

function paramsOf(key: string): RefinedParams<'text'> {
  return {
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    timeout: `${CLIENT_TIMEOUT_MS}ms`,
    responseType: 'text',
    // Of k6's own metrics; without it there would be a series for every path.
    tags: { name: 'place order' },
  };
}

function tell(answer: Answer, { wish, key, at, isFirst, alsoExpected = () => false }: Sent): OrderRecord {
  const { blocked, connecting, duration: waited } = answer.timings;
  const tookMs = blocked + connecting + waited;
  const body = bodyOf(answer);
  const isExpected = isAsExpected(wish, answer.status, body) || alsoExpected(answer);
  duration.add(tookMs);
  answered.add(answer.status !== 0);
  expected.add(isExpected);
  const record: OrderRecord = {
    ...turn(),
    key,
    at,
    tookMs: Math.round(tookMs * 10) / 10,
    http: answer.status,
    wish: wish.kind,
    distinctProducts: wish.distinctProducts,
    expected: isExpected,
    isFirst,
    orderId: textOf(body.id),
    status: textOf(body.status),
    reason: textOf(body.reason),
    code: answer.status === 0 ? transportCode(answer) : textOf(body.code),
    traceId: answer.headers.Traceparent?.split('-')[1],
  };
  console.log(JSON.stringify(record));
  return record;
}

function isAsExpected({ expected: wanted }: Wish, status: number, body: Readonly<Record<string, unknown>>): boolean {
  const { http: code, ...fields } = wanted;
  return status === code && Object.entries(fields).every(([name, value]) => body[name] === value);
}

/** An answer that is no JSON object says nothing: it is then not the expected one. */
function bodyOf({ body }: Answer): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body ?? '');
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `status` of a problem is a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function transportCode({ error_code: code }: Answer): string {
  return code === TIMEOUT_CODE ? 'timeout' : 'unreachable';
}
