import { EVENT_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { type ShopDatabases, withShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix, requireUnique } from '../../shop/id-prefix.ts';
import { findOrderId } from '../../shop/orders-table.ts';
import { findRows, isTooOld, listRowsOfOrder, type OutboxRow, unpublishRows } from '../../shop/outbox-table.ts';
import { shortId } from '../../shop/times.ts';
import type { ReasonOptions } from '../reason.ts';

export interface OutboxRedriveOptions extends CommonOptions, ReasonOptions {
  readonly order?: string;
  readonly dryRun?: boolean;
}

/** `shopctl outbox redrive`: publishes outbox rows again. */
export async function runOutboxRedrive(ids: readonly string[], options: OutboxRedriveOptions, deps: CommandDeps) {
  checkUsage(ids, options);
  const ranges = ids.map((id) => parseIdPrefix(id, 'outbox'));
  const orderRange = options.order === undefined ? undefined : parseIdPrefix(options.order, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  return withShopDatabases(connection, async (databases) => {
    const rows = orderRange === undefined ? await rowsOf(databases, ranges) : await rowsOfOrder(databases, orderRange);
    await redriveRows({ databases, rows, connection }, options, deps);
  });
}

/** Either ids or --order. */
function checkUsage(ids: readonly string[], { order }: OutboxRedriveOptions): void {
  if (ids.length > 0 !== (order !== undefined)) return;
  throw new CliError({
    code: 'invalid_usage',
    what: order === undefined ? 'nothing to redrive was named' : 'ids and --order exclude each other',
    next: 'give ids of outbox rows ("shopctl outbox ls"), or --order ORDER; dead letters have "shopctl dlq retry"',
  });
}

async function rowsOf(databases: ShopDatabases, ranges: readonly ReturnType<typeof parseIdPrefix>[]) {
  const rows: OutboxRow[] = [];
  for (const range of ranges) {
    const found = await findRows(databases, range);
    const id = requireUnique(
      found.map((row) => row.id),
      range,
      'outbox',
      'shopctl outbox ls',
    );
    rows.push(...found.filter((row) => row.id === id));
  }
  return rows;
}

async function rowsOfOrder(databases: ShopDatabases, range: ReturnType<typeof parseIdPrefix>) {
  const orderId = await findOrderId(databases, range);
  const rows = await listRowsOfOrder(databases, orderId);
  if (rows.length > 0) return rows;
  throw new CliError({
    code: 'event_not_found',
    what: `order ${orderId} has no event to publish`,
    why: 'only a confirmed order has one; rows are kept for a year',
    next: `see how it stands with "shopctl explain ${shortId(orderId)}"`,
  });
}

type RowOutcome = 'already waiting' | 'would be published again' | 'is published again' | typeof TOO_OLD;

const TOO_OLD = `is older than ${EVENT_KEEP_DAYS} days and is not published again`;

async function redriveRows(
  {
    databases,
    rows,
    connection,
  }: { databases: ShopDatabases; rows: readonly OutboxRow[]; connection: PlatformConnection },
  { dryRun = false, reason }: OutboxRedriveOptions,
  { output }: CommandDeps,
): Promise<void> {
  const published = rows.filter(({ publishedAt }) => publishedAt !== null).map(({ id }) => id);
  const changed = new Set(dryRun || published.length === 0 ? [] : await unpublishRows(databases, published));
  await createChangeLog(connection.project, output.warn).append(
    ...rows
      .filter(({ id }) => changed.has(id))
      .map(({ orderId }) => ({
        kind: 'outbox' as const,
        target: orderId,
        from: 'published',
        to: 'waiting',
        ...askedFrom('command line', reason),
      })),
  );
  const outcomes = rows.map((row) => ({ ...row, outcome: outcomeOf(row, dryRun, changed) }));
  output.result({ dryRun, rows: outcomes }, () =>
    [
      ...outcomes.map(
        ({ id, type, orderId, outcome }) => `${shortId(id)} ${type} of order ${shortId(orderId)} ${outcome}`,
      ),
      ...(changed.size === 0
        ? []
        : [
            'The relay takes it within 0.5 s. Shipping ignores what its inbox has already;',
            'the trace of the order grows by the spans of this publication.',
          ]),
    ].join('\n'),
  );
}

/** A row that was not changed although it was published has been redriven by someone else in the meantime. */
function outcomeOf(row: OutboxRow, dryRun: boolean, changed: ReadonlySet<string>): RowOutcome {
  if (row.publishedAt === null) return 'already waiting';
  if (isTooOld(row)) return TOO_OLD;
  if (dryRun) return 'would be published again';
  return changed.has(row.id) ? 'is published again' : 'already waiting';
}
