import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { type IdRange, parseIdPrefix } from '../../shop/id-prefix.ts';
import { readOrder } from '../../shop/orders-table.ts';
import { describeEvents, orderContract, outboxTypesIn, type PublishedEvents } from '../../shop/published-events.ts';
import { createAccountReader } from '../../trace/accounting.ts';
import { type AssertResult, assertTrace } from '../../trace/assert.ts';
import { createBackend } from '../../trace/backend.ts';
import { type ExpectedSpan, expectedTree, loadContract } from '../../trace/contract.ts';
import { diffLines, renderDiff } from '../../trace/diff.ts';
import { renderTrace } from '../../trace/render.ts';
import { buildTree, durationMs, type TraceNode } from '../../trace/tree.ts';

export interface TraceAssertOptions extends CommonOptions {
  readonly contract: string;
  /** Seconds. */
  readonly timeout: number;
  /** Seconds. */
  readonly settle: number;
  /** Parameters of the contract. */
  readonly set?: Readonly<Record<string, number>>;
}

/** Prints a trace, by its id or that of its order. Throws CliError (1) when the backend does not know it. */
export async function runTraceShow(
  asked: { readonly traceId: string | undefined; readonly order: string },
  options: CommonOptions,
  deps: CommandDeps,
): Promise<void> {
  const range = asked.traceId === undefined ? parseIdPrefix(asked.order, 'order') : undefined;
  const connection = await deps.connect(deps.projectFrom(options));
  const { telemetryUrl } = connection;
  const traceId = range === undefined ? (asked.traceId as string) : await traceOf(connection, range);
  const { spans, incomplete } = await createBackend(telemetryUrl).trace(traceId);
  if (spans.length === 0) {
    throw new CliError({
      code: 'trace_not_found',
      what: `trace ${traceId} is not known`,
      why: incomplete ?? 'no span of it has arrived, or it was made by another copy of the platform',
      next: 'compare the id with the traceparent header of the response',
    });
  }
  if (incomplete !== undefined) deps.output.warn(incomplete);
  const tree = buildTree(spans);
  const document = { traceId, spans: spans.length, roots: tree.roots.map(toJson), orphans: tree.orphans.map(toJson) };
  deps.output.result(document, () => renderTrace(tree, deps.output));
}

/** The trace whose id begins so, or that of the order whose id does. Throws CliError when there is none, or several. */
async function traceOf(connection: PlatformConnection, range: IdRange): Promise<string> {
  const [traces, order] = await Promise.allSettled([
    createBackend(connection.telemetryUrl).traceIds(range.text.replaceAll('-', '')),
    traceOfOrder(connection, range),
  ]);
  const found = new Set(traces.status === 'fulfilled' ? traces.value : []);
  if (order.status === 'fulfilled') found.add(order.value);
  const [only, ...more] = found;
  if (more.length > 0) {
    throw new CliError({
      code: 'ambiguous_id',
      what: `"${range.text}" is not unique`,
      why: `several traces have an id, or an order, that begins so:\n${[...found].join('\n')}`,
      next: 'give more characters of the id',
    });
  }
  if (only !== undefined) return only;
  // Neither knows it: what the databases say names the order, and the command that lists them.
  throw order.status === 'rejected' ? order.reason : new Error('an order that was found has no trace');
}

async function traceOfOrder(connection: PlatformConnection, range: IdRange): Promise<string> {
  const { id, traceId } = await withShopDatabases(connection, (databases) => readOrder(databases, range));
  if (traceId !== null) return traceId;
  throw new CliError({
    code: 'trace_not_found',
    what: `order ${id} has no trace`,
    why: 'it was placed while its spans were not recorded',
  });
}

/** A span and what is under it, as `trace show --json` prints it. */
function toJson({ span, children }: TraceNode): object {
  const { startNanos, endNanos: _, ...rest } = span;
  return {
    ...rest,
    startTime: new Date(Number(startNanos / 1_000_000n)).toISOString(),
    durationMs: durationMs(span),
    children: children.map(toJson),
  };
}

/** Compares a trace with its contract, prints the verdict, and sets the exit code 0, 1 or 5. */
export async function runTraceAssert(traceId: string, options: TraceAssertOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const contract = await loadContract(options.contract, project.root);
  // A parameter that it does not have is a mistake, whether or not a platform runs.
  expectedTree(contract, options.set);
  const { telemetryUrl, databaseUrls } = await deps.connect(project);
  const backend = createBackend(telemetryUrl);
  const { signal } = deps;
  const timeoutMs = options.timeout * 1000;
  const { expected, events } = await orderContract({
    contract,
    parameters: options.set,
    backend,
    traceId,
    project,
    outboxTypes: (id) => withShopDatabases({ databaseUrls }, (databases) => outboxTypesIn(databases)(id)),
    timeoutMs,
    signal,
  });
  const result = await assertTrace({
    backend,
    traceId,
    expected,
    timeoutMs,
    settleMs: options.settle * 1000,
    accounting: createAccountReader(backend),
    signal,
  });
  const about: About = { contract: contract.name, traceId, expected, events };
  deps.output.result(assertionDocument(about, result), () => renderAssertion(about, result, deps));
  process.exitCode = exitCodeOf(result.verdict);
}

interface About {
  readonly contract: string;
  readonly traceId: string;
  readonly expected: ExpectedSpan;
  readonly events: PublishedEvents | undefined;
}

function assertionDocument({ contract, traceId, expected, events }: About, result: AssertResult): object {
  const { verdict, explanation, comparison, counts, spans, absences, waitedMs } = result;
  return {
    verdict,
    contract,
    traceId,
    explanation,
    spans,
    expected: { ...counts, events: events?.types ?? [] },
    waitedMs,
    faults: comparison.faults.map(({ kind, message, expected: span, actual }) => ({
      kind,
      message,
      service: span?.service ?? actual?.span.service,
      name: span?.name ?? actual?.span.name,
      spanId: actual?.span.spanId,
    })),
    absences,
    diff: verdict === 'pass' ? [] : diffLines(expected, comparison),
  };
}

function renderAssertion(
  { contract, traceId, expected, events }: About,
  { verdict, explanation, comparison, counts }: AssertResult,
  { output: { style } }: CommandDeps,
): string {
  const { services, sql, databases } = counts;
  const versions = [events === undefined ? '' : describeEvents(events)].filter((text) => text !== '');
  if (verdict === 'pass') {
    const shape = `${services.length} services, ${sql} SQL over ${databases.length} databases`;
    return `${style.green('✓')} ${traceId} is ${contract}: ${[explanation, shape, ...versions].join('; ')}`;
  }
  const head = verdict === 'fail' ? style.red('✗') : style.yellow('?');
  return `${head} ${traceId} is ${verdict === 'fail' ? 'not' : 'perhaps not'} ${contract}: ${[explanation, ...versions].join('; ')}\n${renderDiff(diffLines(expected, comparison), style)}`;
}
