import { EVENT_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { type ShopDatabases, withShopDatabases } from '../../shop/databases.ts';
import { type MovedLetter, openDeadLetters } from '../../shop/dead-letters.ts';
import { parseIdPrefix, requireUnique } from '../../shop/id-prefix.ts';
import { findOrderId } from '../../shop/orders-table.ts';
import { findRows, isTooOld, listRowsOfOrder, type OutboxRow, unpublishRows } from '../../shop/outbox-table.ts';
import { shortId } from '../../shop/times.ts';
import { confirm } from '../confirm.ts';
import type { ReasonOptions } from '../reason.ts';

export interface OutboxRedriveOptions extends CommonOptions, ReasonOptions {
  readonly order?: string;
  readonly deadLetters?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `shopctl outbox redrive`: publishes outbox rows again, or moves dead letters back. */
export async function runOutboxRedrive(ids: readonly string[], options: OutboxRedriveOptions, deps: CommandDeps) {
  checkUsage(ids, options);
  const ranges = ids.map((id) => parseIdPrefix(id, 'outbox'));
  const orderRange = options.order === undefined ? undefined : parseIdPrefix(options.order, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  if (options.deadLetters) return redriveDeadLetters(connection, options, deps);

  return withShopDatabases(connection, async (databases) => {
    const rows = orderRange === undefined ? await rowsOf(databases, ranges) : await rowsOfOrder(databases, orderRange);
    await redriveRows({ databases, rows, connection }, options, deps);
  });
}

/** Exactly one of: ids, --order, --dead-letters. */
function checkUsage(ids: readonly string[], { order, deadLetters = false }: OutboxRedriveOptions): void {
  const ways = [ids.length > 0, order !== undefined, deadLetters].filter(Boolean).length;
  if (ways === 1) return;
  throw new CliError({
    code: 'invalid_usage',
    what: ways === 0 ? 'nothing to redrive was named' : 'ids, --order and --dead-letters exclude each other',
    next: 'give ids of outbox rows ("shopctl outbox ls"), or --order ORDER, or --dead-letters',
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

async function redriveDeadLetters(
  connection: PlatformConnection,
  { dryRun = false, yes = false, reason }: OutboxRedriveOptions,
  { output, signal }: CommandDeps,
): Promise<void> {
  await using letters = await openDeadLetters(connection.brokerUrl);
  const count = await letters.count();
  const moved: MovedLetter[] = [];
  if (!dryRun && count > 0) {
    if (!yes) {
      await confirm(`move ${count} dead letters back to ${ORDER_CONFIRMED_QUEUE}?`, {
        what: 'nothing was moved',
        next: 'give --yes to move them, --dry-run to count them',
        signal,
      });
    }
    await moveAll();
  }
  const left = count - moved.length;
  output.result({ dryRun, deadLetters: count, moved }, () => describeLetters(moved, { count, left, dryRun }));

  async function moveAll(): Promise<void> {
    try {
      // Only as many as there were: a message that is dead-lettered again immediately would be moved for ever.
      await letters.moveBack(count, (letter) => moved.push(letter));
    } catch (error) {
      output.warn(`${moved.length} of ${count} dead letters were moved before the failure`);
      throw error;
    } finally {
      await createChangeLog(connection.project, output.warn).append(
        ...moved.map(({ messageId, queue }) => ({
          kind: 'dead-letter' as const,
          target: messageId ?? '(no id)',
          from: DEAD_LETTERS_QUEUE,
          to: queue,
          ...askedFrom('command line', reason),
        })),
      );
    }
  }
}

function describeLetters(
  moved: readonly MovedLetter[],
  { count, left, dryRun }: { count: number; left: number; dryRun: boolean },
): string {
  if (count === 0) return 'there are no dead letters';
  if (dryRun) return `${count} dead letter${count === 1 ? '' : 's'} would be moved back to ${ORDER_CONFIRMED_QUEUE}`;
  const lines = moved.map(
    ({ messageId, type, queue, reason }) =>
      `${messageId ?? '(no id)'} ${type ?? '(no type)'} moved to ${queue}${reason === null ? '' : ` (dead-lettered: ${reason})`}`,
  );
  const rest = left > 0 ? [`${left} had been taken by someone else`] : [];
  return [...lines, `${moved.length} moved; one that fails again comes back as a dead letter`, ...rest].join('\n');
}
