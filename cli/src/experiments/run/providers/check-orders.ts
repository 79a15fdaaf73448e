import { percentile } from '../../../shared/statistics.ts';
import { worst } from '../../../shared/verdict.ts';
import type { CountTolerance, DurationComparison, OrdersTolerance } from '../../format/schema.ts';
import type { LoggedOrder, OrderResponse } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin, round } from '../tolerance.ts';
import type { Aspect } from './aspect.ts';
import { checkEventually } from './eventual-status.ts';

/** Examples listed of orders that were not as expected. */
const LISTED = 5;

/** Evaluates orders by all aspects of a tolerance. Without an order the result is unknown. */
export async function checkOrders(
  orders: readonly LoggedOrder[],
  tolerance: OrdersTolerance,
  context: RunContext,
): Promise<StepResult> {
  if (orders.length === 0) return unknown('no such orders');
  const withoutResponse = orders.filter(({ response }) => response === undefined).length;
  if (withoutResponse > 0) return unknown(`${withoutResponse} of ${orders.length} orders are still in flight`);
  const aspects: Aspect[] = [];
  const { each, counts, ratio, added, eventually } = tolerance;
  if (each !== undefined) aspects.push(checkEach(orders, each));
  for (const [category, bound] of Object.entries(counts ?? {})) aspects.push(checkCount(orders, category, bound));
  for (const statistic of ['p50', 'p95', 'max'] as const) {
    const bound = tolerance[statistic];
    if (bound !== undefined) aspects.push(checkTime(orders, statistic, bound));
  }
  if (ratio !== undefined) aspects.push(...checkRatio(orders, ratio, context));
  if (added !== undefined) aspects.push(...checkAdded(orders, added, context));
  const sameAs = tolerance['same-ids-as'];
  if (sameAs !== undefined) aspects.push(checkSameIds(orders, sameAs, context));
  if (eventually !== undefined) aspects.push(await checkEventually(orders, eventually, context));
  const evidence = aspects.flatMap((aspect) => aspect.evidence ?? []).join('\n');
  return {
    verdict: worst(aspects.map(({ verdict }) => verdict)),
    expected: aspects.map(({ expected }) => expected).join('; '),
    observed: [summaryOf(orders), ...aspects.map(({ observed }) => observed)].filter((text) => text !== '').join('; '),
    ...(evidence !== '' && { evidence }),
    traceIds: orders.slice(0, 20).flatMap(({ response }) => response?.traceId ?? []),
  };
}

/** `5 orders: 4 Confirmed, 1 503 catalog_unavailable, slowest 512 ms` */
function summaryOf(orders: readonly LoggedOrder[]): string {
  const groups = Map.groupBy(orders, ({ response }) => describeResponse(response));
  const parts = [...groups].map(([words, own]) => `${own.length} ${words}`);
  return `${orders.length} orders: ${parts.join(', ')}, slowest ${round(timeAt(orders, 1))} ms`;
}

/** `Confirmed`, `Cancelled: out of stock`, `503 catalog_unavailable`, `none (timeout)`. */
function describeResponse(response: OrderResponse | undefined): string {
  if (response === undefined) return 'in flight';
  if (response.status !== undefined)
    return response.reason === undefined ? response.status : `${response.status}: ${response.reason}`;
  return response.http === undefined ? `none (${response.code})` : `${response.http} ${response.code}`;
}

function kindOf(response: OrderResponse | undefined): string {
  if (response?.status !== undefined) return response.status;
  return response?.http === undefined ? 'none' : 'problem';
}

/**
 * True when a response is counted under a category: `Cancelled: out of stock`, `503`, `503 catalog_unavailable`,
 * `none`.
 */
function isOfCategory(response: OrderResponse | undefined, category: string): boolean {
  if (category === kindOf(response)) return true;
  if (/^\d{3}$/.test(category)) return String(response?.http) === category;
  return describeResponse(response) === category;
}

function checkEach(orders: readonly LoggedOrder[], each: NonNullable<OrdersTolerance['each']>): Aspect {
  const wrong = orders.filter(({ response }) => !isAsWanted(response, each));
  const words = [
    each.response === undefined
      ? ''
      : typeof each.response === 'string'
        ? each.response
        : each.response.in.join(' or '),
    each.reason === undefined ? '' : describeTolerance(each.reason),
    each.http === undefined ? '' : `HTTP ${describeTolerance(each.http)}`,
    each.code === undefined ? '' : `code ${describeTolerance(each.code)}`,
    each.duration === undefined ? '' : describeTolerance(each.duration, ' ms'),
  ].filter((word) => word !== '');
  const listed = wrong.slice(0, LISTED).map(({ op, response }) => {
    const took = response === undefined ? '' : ` after ${round(response.tookMs)} ms`;
    return `order ${op}: ${describeResponse(response)}${took}${response?.traceId === undefined ? '' : `, trace ${response.traceId}`}`;
  });
  const more = wrong.length > LISTED ? [`and ${wrong.length - LISTED} more`] : [];
  return {
    verdict: wrong.length === 0 ? 'pass' : 'fail',
    expected: `each ${words.join(', ')}`,
    observed: wrong.length === 0 ? '' : `${wrong.length} of ${orders.length} otherwise`,
    ...(wrong.length > 0 && { evidence: [...listed, ...more].join('\n') }),
  };
}

function isAsWanted(
  response: OrderResponse | undefined,
  { response: kind, reason, http, code, duration }: NonNullable<OrdersTolerance['each']>,
): boolean {
  if (response === undefined) return false;
  const kinds = kind === undefined ? undefined : typeof kind === 'string' ? [kind] : kind.in;
  return (
    (kinds === undefined || (kinds as readonly string[]).includes(kindOf(response))) &&
    (reason === undefined || (response.reason !== undefined && isWithin(response.reason, reason))) &&
    (http === undefined || (response.http !== undefined && isWithin(response.http, http))) &&
    (code === undefined || (response.code !== undefined && isWithin(response.code, code))) &&
    (duration === undefined || isWithin(response.tookMs, duration))
  );
}

function checkCount(orders: readonly LoggedOrder[], category: string, bound: CountTolerance): Aspect {
  const count = orders.filter(({ response }) => isOfCategory(response, category)).length;
  return {
    verdict: isWithin(count, bound) ? 'pass' : 'fail',
    expected: `${describeTolerance(bound)} ${category}`,
    observed: isWithin(count, bound) ? '' : `${count} ${category}`,
  };
}

type Statistic = 'p50' | 'p95' | 'max';
const SHARES: Readonly<Record<Statistic, number>> = { p50: 0.5, p95: 0.95, max: 1 };

function checkTime(orders: readonly LoggedOrder[], statistic: Statistic, bound: DurationComparison): Aspect {
  const ms = timeAt(orders, SHARES[statistic]);
  return {
    verdict: isWithin(ms, bound) ? 'pass' : 'fail',
    expected: `${statistic} ${describeTolerance(bound, ' ms')}`,
    observed: `${statistic} ${round(ms)} ms`,
  };
}

function checkRatio(
  orders: readonly LoggedOrder[],
  ratio: NonNullable<OrdersTolerance['ratio']>,
  context: Pick<RunContext, 'orders'>,
): Aspect[] {
  return compare(orders, ratio, context, (statistic, { now, then }) => {
    const value = now / then;
    return { bound: ratio[statistic], value, unit: '×', than: '', words: `${value.toFixed(2)}×` };
  });
}

function checkAdded(
  orders: readonly LoggedOrder[],
  added: NonNullable<OrdersTolerance['added']>,
  context: Pick<RunContext, 'orders'>,
): Aspect[] {
  return compare(orders, added, context, (statistic, { now, then }) => {
    const value = now - then;
    return { bound: added[statistic], value, unit: ' ms', than: 'more than ', words: `${round(value)} ms more` };
  });
}

interface Compared {
  readonly bound: CountTolerance | DurationComparison | undefined;
  readonly value: number;
  readonly unit: string;
  /** Between the bound and the other step. */
  readonly than: string;
  /** The value. */
  readonly words: string;
}

/** Times against those of other steps' orders, taken together, by each statistic that is bounded. */
function compare(
  orders: readonly LoggedOrder[],
  { of }: { readonly of: string | readonly string[] },
  context: Pick<RunContext, 'orders'>,
  relate: (statistic: Statistic, times: { readonly now: number; readonly then: number }) => Compared,
): Aspect[] {
  const steps = [of].flat();
  const baseline = steps
    .flatMap((step) => context.orders.ofStep(step))
    .filter(({ response }) => response !== undefined);
  const name = steps.map((step) => `"${step}"`).join(' and ');
  return (['p50', 'p95', 'max'] as const).flatMap((statistic): Aspect[] => {
    const [now, then] = [timeAt(orders, SHARES[statistic]), timeAt(baseline, SHARES[statistic])];
    const { bound, value, unit, than, words } = relate(statistic, { now, then });
    if (bound === undefined) return [];
    const expected = `${statistic} ${describeTolerance(bound, unit)} ${than}that of ${name}`;
    if (baseline.length === 0) return [{ verdict: 'unknown', expected, observed: `${name} has no orders` }];
    const observed = `${statistic} ${round(now)} ms against ${round(then)} ms (${words})`;
    return [{ verdict: isWithin(value, bound) ? 'pass' : 'fail', expected, observed }];
  });
}

function checkSameIds(orders: readonly LoggedOrder[], step: string, context: Pick<RunContext, 'orders'>): Aspect {
  const expected = `the same orders as "${step}"`;
  const earlier = context.orders.ofStep(step);
  if (earlier.length > orders.length) {
    const observed = `${orders.length} orders cannot be compared with ${earlier.length} one by one`;
    return { verdict: 'unknown', expected, observed };
  }
  const pairs = orders.map(({ response }, index) => [response?.orderId, earlier[index]?.response?.orderId] as const);
  const missing = pairs.filter(([, then]) => then === undefined).length;
  if (missing > 0) return { verdict: 'unknown', expected, observed: `${missing} ids of "${step}" are not known` };
  const other = pairs.filter(([now, then]) => now !== then);
  if (other.length === 0) return { verdict: 'pass', expected, observed: 'same ids' };
  const evidence = other.slice(0, LISTED).map(([now, then]) => `${now ?? 'no id'} instead of ${then}`);
  return { verdict: 'fail', expected, observed: `${other.length} other ids`, evidence: evidence.join('\n') };
}

/** Of the times until a response, or until the client gave up. */
function timeAt(orders: readonly LoggedOrder[], share: number): number {
  const times = orders.flatMap(({ response }) => response?.tookMs ?? []);
  return percentile(times, share) ?? Number.NaN;
}
