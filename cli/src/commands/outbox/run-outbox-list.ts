import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { countPendingRows, listPendingRows, listPublishedRows, type OutboxRow } from '../../shop/outbox-table.ts';
import { formatTime, shortId } from '../../shop/times.ts';

export interface OutboxListOptions extends CommonOptions {
  readonly pending?: boolean;
  readonly limit: number;
}

/** `shopctl outbox ls`: what waits, the oldest first, then what was published last. */
export async function runOutboxList({ pending = false, limit, ...options }: OutboxListOptions, deps: CommandDeps) {
  const connection = await deps.connect(deps.projectFrom(options));
  const { waiting, published, pendingCount } = await withShopDatabases(connection, async (databases) => ({
    waiting: await listPendingRows(databases, limit),
    published: pending ? [] : await listPublishedRows(databases, limit),
    pendingCount: await countPendingRows(databases),
  }));
  const rows = [...waiting, ...published].slice(0, limit);
  deps.output.result({ pending: pendingCount, rows }, () => describe(rows, pendingCount, pending));
}

function describe(rows: readonly OutboxRow[], pendingCount: number, pendingOnly: boolean): string {
  const summary = pendingCount === 0 ? 'nothing waits to be published' : `${pendingCount} waiting to be published`;
  if (rows.length === 0) return pendingOnly ? summary : 'the outbox is empty';
  const table = formatTable(
    ['ID', 'ORDER', 'TYPE', 'WRITTEN', 'PUBLISHED'],
    rows.map((row) => [shortId(row.id), shortId(row.orderId), row.type, formatTime(row.createdAt), publishedText(row)]),
  );
  return `${table}\n\n${summary}`;
}

/** How long publication took, or how long it has been waited for. */
function publishedText({ createdAt, publishedAt, readAt }: OutboxRow): string {
  if (publishedAt === null) return `waiting ${formatDuration(readAt.getTime() - createdAt.getTime())}`;
  return `after ${formatDuration(publishedAt.getTime() - createdAt.getTime())}`;
}
