import { EVENT_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { type ShopDatabases, withShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix, requireUnique } from '../../shop/id-prefix.ts';
import { findOrderId } from '../../shop/orders-table.ts';
import {
  findRows,
  isTooOld,
  listArrivedRows,
  listRowsOfOrder,
  type OutboxRow,
  unpublishRows,
} from '../../shop/outbox-table.ts';
import { unshippedOf } from '../../shop/shipments-table.ts';
import { shortId } from '../../shop/times.ts';
import type { ReasonOptions } from '../reason.ts';

export interface OutboxRedriveOptions extends CommonOptions, ReasonOptions {
  readonly order?: string;
  /** ms since the epoch */
  readonly unshipped?: number;
  readonly dryRun?: boolean;
}

/** `shopctl outbox redrive`: publishes outbox rows again. */
export async function runOutboxRedrive(ids: readonly string[], options: OutboxRedriveOptions, deps: CommandDeps) {
  checkUsage(ids, options);
  const ranges = ids.map((id) => parseIdPrefix(id, 'outbox'));
  const { order, unshipped } = options;
  const orderRange = order === undefined ? undefined : parseIdPrefix(order, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  return withShopDatabases(connection, async (databases) => {
    const rows = orderRange
      ? await rowsOfOrder(databases, orderRange)
      : unshipped === undefined
        ? await rowsOf(databases, ranges)
        : await rowsWithoutShipment(databases, unshipped);
    await redriveRows({ databases, rows, connection }, options, deps);
  });
}

/** Ids, --order or --unshipped. */
function checkUsage(ids: readonly string[], { order, unshipped }: OutboxRedriveOptions): void {
  const ways = [ids.length > 0, order !== undefined, unshipped !== undefined].filter((isGiven) => isGiven).length;
  if (ways === 1) return;
  throw new CliError({
    code: 'invalid_usage',
    what: ways === 0 ? 'nothing to redrive was named' : 'ids, --order and --unshipped exclude each other',
    next: 'give ids of outbox rows ("shopctl outbox ls"), --order ORDER, or --unshipped 30m; dead letters have "shopctl dlq retry"',
  });
}

async function rowsWithoutShipment(databases: ShopDatabases, sinceMs: number): Promise<OutboxRow[]> {
  const rows = await listArrivedRows(databases, new Date(sinceMs));
  const unshipped = new Set(
    await unshippedOf(
      databases,
      rows.map(({ orderId }) => orderId),
    ),
  );
  return rows.filter(({ orderId }) => unshipped.has(orderId));
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

/** Orders of one call that are named one by one, to people and in the changes. */
const MOST_NAMED = 20;

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
  const orders = new Set(rows.filter(({ id }) => changed.has(id)).map(({ orderId }) => orderId));
  // Hundreds of lines would displace what else was changed.
  const targets = orders.size > MOST_NAMED ? [`${orders.size} orders`] : [...orders];
  await createChangeLog(connection.project, output.warn).append(
    ...targets.map((target) => ({
      kind: 'outbox' as const,
      target,
      from: 'published',
      to: 'waiting',
      ...askedFrom('command line', reason),
    })),
  );
  const outcomes = rows.map((row) => ({ ...row, outcome: outcomeOf(row, dryRun, changed) }));
  output.result({ dryRun, rows: outcomes }, () =>
    [
      ...(outcomes.length === 0 ? ['every order has its shipment'] : []),
      ...outcomes
        .slice(0, MOST_NAMED)
        .map(({ id, type, orderId, outcome }) => `${shortId(id)} ${type} of order ${shortId(orderId)} ${outcome}`),
      ...(outcomes.length > MOST_NAMED ? [`and ${outcomes.length - MOST_NAMED} more`] : []),
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
