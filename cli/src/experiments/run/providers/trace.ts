import { messageOf } from '../../../errors.ts';
import { createStyle } from '../../../output/style.ts';
import { worst } from '../../../shared/verdict.ts';
import { orderContract, outboxTypesIn } from '../../../shop/published-events.ts';
import { createAccountReader } from '../../../trace/accounting.ts';
import { type AssertResult, assertTrace } from '../../../trace/assert.ts';
import { type ExpectedSpan, loadContract } from '../../../trace/contract.ts';
import { diffLines, renderDiff } from '../../../trace/diff.ts';
import type { TraceProbe, TraceTolerance } from '../../format/schema.ts';
import type { LoggedOrder } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { checkSpans, describePattern } from './span-patterns.ts';

/** Spans arrive a batch delay after they end, and the relay has its poll: a trace is always waited for. ms. */
const DEFAULT_WITHIN_MS = 10_000;
/** A late extra span still counts, ms. */
const SETTLE_MS = 1_000;
/** Traces evaluated of `each`, evenly over the step: a load's later orders meet the fault. */
const MAX_TRACES = 50;

/** Each is watched for SETTLE_MS, most of which is waiting. */
const CONCURRENCY = 10;

const plain = createStyle({ enabled: false });

/** Evaluates the traces of a step's orders. A missing trace is unknown; a different one is a failure. */
export async function probeTraces(step: TraceProbe, context: RunContext): Promise<StepResult> {
  const { provider, tolerance } = step;
  const expected = describeTrace(tolerance);
  const orders = choose(context.orders.ofStep(provider.of), provider.which);
  if (orders.length === 0) return unknown(`"${provider.of}" has no such orders`, { expected });
  const results: StepResult[] = [];
  const chosen = evenly(orders, MAX_TRACES);
  for (let next = 0; next < chosen.length; next += CONCURRENCY) {
    const some = chosen.slice(next, next + CONCURRENCY);
    results.push(...(await Promise.all(some.map((order) => probeTrace(order, step, context)))));
  }
  const wrong = results.filter(({ verdict }) => verdict !== 'pass');
  return {
    verdict: worst(results.map(({ verdict }) => verdict)),
    expected,
    observed:
      wrong.length === 0
        ? `${results.length} of ${orders.length} traces, e.g. ${results[0]?.observed}`
        : `${wrong.length} of ${results.length} traces otherwise: ${wrong[0]?.observed}`,
    evidence: wrong
      .slice(0, 3)
      .flatMap(({ evidence }) => evidence ?? [])
      .join('\n'),
    traceIds: (wrong.length > 0 ? wrong : results).flatMap(({ traceIds }) => traceIds ?? []).slice(0, 20),
  };
}

/** At most so many, the first and the last among them. Pure. */
export function evenly<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * step)] as T);
}

function choose(orders: readonly LoggedOrder[], which: TraceProbe['provider']['which']): readonly LoggedOrder[] {
  if (which === 'first') return orders.slice(0, 1);
  if (which === 'last') return orders.slice(-1);
  return which === 'each' ? orders : orders.filter(({ response }) => response?.status !== 'Confirmed');
}

async function probeTrace(order: LoggedOrder, step: TraceProbe, context: RunContext): Promise<StepResult> {
  try {
    const traceId = order.response?.traceId ?? (await storedTraceId(order, context));
    if (traceId === undefined) return unknown(`order ${order.op} has no trace id`);
    const { contract } = step.tolerance;
    const shape = contract === undefined ? undefined : await probeShape(contract, order, traceId, step, context);
    if (shape !== undefined && shape.verdict !== 'pass') return shape;
    const parts = hasSpanRules(step.tolerance) ? await checkSpans(traceId, step, context) : undefined;
    return parts ?? shape ?? unknown('there is nothing to compare it with');
  } catch (error) {
    context.signal.throwIfAborted();
    return unknown(messageOf(error));
  }
}

function hasSpanRules({ spans, services, has, 'has-not': hasNot }: TraceTolerance): boolean {
  return [spans, services, has, hasNot].some((rule) => rule !== undefined);
}

/** Of an order whose response was lost: its saga keeps the trace it belongs to. */
async function storedTraceId({ key }: LoggedOrder, { platform }: RunContext): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const [row] = await platform.databases.query<{ trace_parent: string | null }>(
    'orders',
    'SELECT trace_parent FROM orders WHERE idempotency_key = $1',
    [key],
  );
  return row?.trace_parent?.split('-')[1];
}

async function probeShape(
  name: string,
  order: LoggedOrder,
  traceId: string,
  step: TraceProbe,
  { platform, signal }: RunContext,
): Promise<StepResult> {
  const contract = await loadContract(name, platform.project.root);
  const distinctProducts = new Set(order.lines.map(({ productId }) => productId)).size;
  const parameters = 'distinctProducts' in contract.parameters ? { distinctProducts } : {};
  const timeoutMs = step.within ?? DEFAULT_WITHIN_MS;
  const outboxTypes = outboxTypesIn(platform.databases);
  const asked = { contract, parameters, backend: platform.telemetry, traceId, outboxTypes, timeoutMs, signal };
  const whole = await orderContract({ ...asked, project: platform.project });
  const expected = without(whole.expected, step.tolerance.without ?? []);
  const result = await assertTrace({
    backend: platform.telemetry,
    traceId,
    expected,
    timeoutMs,
    settleMs: step.for ?? SETTLE_MS,
    accounting: createAccountReader(platform.telemetry),
    signal,
  });
  return fromAssertion(result, expected, traceId);
}

/** The tree without the spans of these names and all below them. */
function without(tree: ExpectedSpan, names: readonly string[]): ExpectedSpan {
  const children = tree.children.filter(({ name }) => !names.includes(name)).map((child) => without(child, names));
  return { ...tree, children };
}

function fromAssertion(
  { verdict, explanation, comparison, spans }: AssertResult,
  expected: ExpectedSpan,
  traceId: string,
): StepResult {
  const evidence =
    verdict === 'pass' ? undefined : `trace ${traceId}\n${renderDiff(diffLines(expected, comparison), plain)}`;
  return { verdict, observed: `${spans} spans: ${explanation}`, evidence, traceIds: [traceId] };
}

function describeTrace({ contract, without: left = [], ...rules }: TraceTolerance): string {
  const shape = contract === undefined ? [] : [`exactly the contract "${contract}"`];
  const less = left.length > 0 ? [`without ${left.join(', ')}`] : [];
  return [...shape, ...less, ...describePattern(rules)].join(', ');
}
