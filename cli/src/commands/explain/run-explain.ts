import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { diagnose } from '../../shop/diagnosis.ts';
import { formatExplanation } from '../../shop/explain-page.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { warnOfMissing } from '../../shop/missing-evidence.ts';
import { readOrderEvidence } from '../../shop/order-evidence.ts';
import { readLogsOfTrace } from '../../shop/order-logs.ts';
import { readTraceIfAny } from '../../shop/order-trace.ts';
import { sagaSteps } from '../../shop/saga-steps.ts';
import { createBackend } from '../../trace/backend.ts';
import { durationMs, nodesOf, type TraceTree } from '../../trace/tree.ts';

/** `shopctl explain`: joins databases, trace and logs for one order. */
export async function runExplain(id: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const { output } = deps;
  const range = parseIdPrefix(id, 'order');
  const project = deps.projectFrom(options);
  const connection = await deps.connect(project);
  const evidence = await withShopDatabases(connection, (databases) => readOrderEvidence(databases, range));
  const { traceId } = evidence.order;
  const [trace, logs] = await Promise.all([
    readTraceIfAny(createBackend(connection.telemetryUrl), traceId),
    traceId === null ? [] : readLogsOfTrace(project.logDir, traceId),
  ]);
  const json = {
    conclusion: diagnose(evidence),
    ...evidence,
    steps: sagaSteps(evidence),
    trace: trace && { traceId: trace.traceId, note: trace.note, spans: spansOf(trace.tree) },
    logs: logs.map(({ record }) => record),
  };
  output.result(json, () => formatExplanation({ evidence, trace, logs }, output));
  warnOfMissing(evidence, output);
}

/** Spans with times in ms since 1970; parents stand before their children. */
function spansOf(tree: TraceTree): object[] {
  return nodesOf(tree).map(({ span }) => ({
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    service: span.service,
    name: span.name,
    kind: span.kind,
    error: span.error,
    startMs: Number(span.startNanos / 1000n) / 1000,
    durationMs: durationMs(span),
  }));
}
