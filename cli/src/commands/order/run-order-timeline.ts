import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { warnOfMissing } from '../../shop/missing-evidence.ts';
import { readOrderEvidence } from '../../shop/order-evidence.ts';
import { readTraceIfAny } from '../../shop/order-trace.ts';
import { timelineOf } from '../../shop/timeline.ts';
import { formatTimeline } from '../../shop/timeline-page.ts';
import { createBackend } from '../../trace/backend.ts';

/** `shopctl order timeline`: what databases recorded and what the trace shows, on one axis. */
export async function runOrderTimeline(id: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const range = parseIdPrefix(id, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  const evidence = await withShopDatabases(connection, (databases) => readOrderEvidence(databases, range));
  const trace = await readTraceIfAny(createBackend(connection.telemetryUrl), evidence.order.traceId);
  const entries = timelineOf(evidence, trace?.tree ?? { roots: [], orphans: [] });
  const { id: orderId, traceId } = evidence.order;
  deps.output.result({ orderId, traceId, entries, unavailable: evidence.unavailable }, () =>
    formatTimeline(entries, deps.output),
  );
  if (trace?.note != null) deps.output.warn(`trace: ${trace.note}`);
  warnOfMissing(evidence, deps.output);
}
