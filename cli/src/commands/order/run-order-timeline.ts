import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { warnOfMissing } from '../../shop/missing-evidence.ts';
import { readStory } from '../../shop/order-story.ts';
import { readTraceIfAny } from '../../shop/order-trace.ts';
import { timelineOf } from '../../shop/timeline.ts';
import { formatTimeline } from '../../shop/timeline-page.ts';
import { createBackend } from '../../trace/backend.ts';

/** `shopctl order timeline`: what databases recorded and what the trace shows, on one axis. */
export async function runOrderTimeline(id: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const range = parseIdPrefix(id, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  const story = await withShopDatabases(connection, (databases) => readStory(databases, range));
  const trace = await readTraceIfAny(createBackend(connection.telemetryUrl), story.order.traceId);
  const entries = timelineOf(story, trace?.tree ?? { roots: [], orphans: [] });
  const { id: orderId, traceId } = story.order;
  deps.output.result({ orderId, traceId, entries, unavailable: story.unavailable }, () =>
    formatTimeline(entries, deps.output),
  );
  if (trace?.note != null) deps.output.warn(`trace: ${trace.note}`);
  warnOfMissing(story, deps.output);
}
