import { DEAD_LETTERS_QUEUE } from '@shop/kit/topology.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { formatTable } from '../../output/table.ts';
import { askedFrom, type Change, changeFile, createChangeLog } from '../../platform/change-log.ts';
import type { Project } from '../../platform/project.ts';
import { type DeadLetter, type DeadLetters, openDeadLetters } from '../../shop/dead-letters.ts';
import { shortId } from '../../shop/times.ts';
import { confirm } from '../confirm.ts';
import type { ReasonOptions } from '../reason.ts';

export interface DlqListOptions extends CommonOptions {
  readonly limit: number;
}

export interface DlqOptions extends CommonOptions, ReasonOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** How far an id is searched: they are held meanwhile. */
const SEARCHED = 1_000;

/** `shopctl dlq ls`. */
export async function runDlqList({ limit, ...options }: DlqListOptions, deps: CommandDeps): Promise<void> {
  await using letters = await open(options, deps);
  const count = await letters.count();
  const found = await look(letters, limit);
  // The payload is for `show`.
  const rows = found.map(({ payload: _, ...letter }) => letter);
  deps.output.result({ deadLetters: Math.max(count, rows.length), letters: rows }, ({ deadLetters }) => {
    if (rows.length === 0) return 'there are no dead letters';
    const table = formatTable(
      ['ID', 'TYPE', 'ORDER', 'SINCE', 'REASON', 'BYTES', 'SHIPPING SAYS'],
      rows.map(({ id, type, orderId, deadLetteredAt, reason, bytes, unreadable }) => [
        shortId(id),
        type ?? '-',
        orderId === null ? '-' : shortId(orderId),
        deadLetteredAt ?? '-',
        reason ?? '-',
        String(bytes),
        unreadable ?? 'readable',
      ]),
    );
    return rows.length < deadLetters ? `${table}\n\n${rows.length} of ${deadLetters}; --limit shows more` : table;
  });
}

/** `shopctl dlq show ID`. */
export async function runDlqShow(id: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  checkId(id);
  await using letters = await open(options, deps);
  const [letter] = await find(letters, id);
  deps.output.result(letter, describe);
}

/** `shopctl dlq retry|discard ID|--all`. */
export async function runDlqChange(
  action: 'retry' | 'discard',
  id: string | undefined,
  { all = false, yes = false, dryRun = false, reason, ...options }: DlqOptions,
  deps: CommandDeps,
): Promise<void> {
  if ((id === undefined) !== all) {
    throw new CliError({
      code: 'invalid_usage',
      what: all ? 'an id and --all exclude each other' : `nothing to ${action} was named`,
      next: 'give the id of a dead letter ("shopctl dlq ls"), or --all',
    });
  }
  if (id !== undefined) checkId(id);
  await using letters = await open(options, deps);
  const chosen = id === undefined ? undefined : await find(letters, id);
  const count = chosen === undefined ? await letters.count() : SEARCHED;
  if (all && action === 'discard' && count > 0 && !dryRun && !yes) {
    await confirm(`discard ${count} dead letters for good?`, {
      what: 'nothing was discarded',
      next: 'give --yes to discard them, --dry-run to count them',
      signal: deps.signal,
    });
  }
  const done: DeadLetter[] = [];
  // No more of them than there were: one that is refused again immediately would be given back for ever.
  const isChosen = ({ id }: DeadLetter) => chosen === undefined || (id === chosen[0].id && done.length < chosen.length);
  if (dryRun) done.push(...(chosen ?? (await look(letters, count))));
  else await change();
  deps.output.result({ action, dryRun, letters: done.map(({ payload: _, ...letter }) => letter) }, () =>
    done.length === 0 ? 'there are no dead letters' : summary(action, done, dryRun),
  );

  async function change(): Promise<void> {
    const asked = askedFrom('command line', reason);
    const project = deps.projectFrom(options);
    const discard = async (letter: DeadLetter) => {
      // Before it is gone: it leaves nothing else behind.
      await recordFirst(project, { ...changeOf(letter, 'discarded'), ...asked });
      done.push(letter);
    };
    try {
      await letters.each(
        count,
        async (letter) => {
          if (!isChosen(letter)) return 'leave';
          if (action === 'discard') await discard(letter);
          return action;
        },
        (letter) => void done.push(letter),
      );
    } finally {
      const given = action === 'retry' ? done : [];
      const changes = given.map((letter) => ({ ...changeOf(letter, letter.queue), ...asked }));
      await createChangeLog(project, deps.output.warn).append(...changes);
    }
  }
}

function changeOf({ id, orderId }: DeadLetter, to: string): Omit<Change, 'by'> {
  const from = DEAD_LETTERS_QUEUE;
  return { kind: 'dead-letter', target: id, from, to, ...(orderId !== null && { orderId }) };
}

/** Throws CliError (3) where it cannot be recorded. */
async function recordFirst(project: Project, change: Change): Promise<void> {
  const problems: string[] = [];
  await createChangeLog(project, (problem) => problems.push(problem)).append(change);
  const [why] = problems;
  if (why === undefined) return;
  throw new CliError({
    code: 'folder_unusable',
    what: `${change.target} was not discarded: the change log cannot be written`,
    why,
    next: `make ${changeFile(project)} writable`,
  });
}

async function open(options: CommonOptions, deps: CommandDeps): Promise<DeadLetters> {
  return openDeadLetters((await deps.connect(deps.projectFrom(options))).brokerUrl);
}

/** The letters at the head of the queue, the oldest first. */
async function look(letters: DeadLetters, limit: number): Promise<readonly DeadLetter[]> {
  const found: DeadLetter[] = [];
  await letters.each(limit, async (letter) => {
    found.push(letter);
    return 'leave';
  });
  return found.toSorted((a, b) => (a.deadLetteredAt ?? '').localeCompare(b.deadLetteredAt ?? ''));
}

function checkId(id: string): void {
  if (/^[\x21-\x7e]{6,}$/.test(id)) return;
  throw new CliError({
    code: 'invalid_id',
    what: `"${id.slice(0, 60)}" is not the id of a dead letter`,
    why: 'its first 6 characters or more are enough while they are unique',
    next: 'list them with "shopctl dlq ls"',
  });
}

/** The letters of one id: a message that was published twice may be there twice. Throws CliError (1). */
async function find(letters: DeadLetters, prefix: string): Promise<readonly [DeadLetter, ...DeadLetter[]]> {
  const found = (await look(letters, SEARCHED)).filter(({ id }) => id.toLowerCase().startsWith(prefix.toLowerCase()));
  const [first, ...others] = found;
  if (first === undefined) {
    throw new CliError({
      code: 'dead_letter_not_found',
      what: `there is no dead letter ${prefix}`,
      why: `no id begins so among the first ${SEARCHED} dead letters`,
      next: 'list them with "shopctl dlq ls"',
    });
  }
  const ids = new Set(found.map(({ id }) => id));
  if (ids.size === 1) return [first, ...others];
  throw new CliError({
    code: 'ambiguous_id',
    what: `"${prefix}" is not unique`,
    why: `several dead letters begin so:\n${[...ids].join('\n')}`,
    next: 'give more characters of the id',
  });
}

function describe(letter: DeadLetter): string {
  const { id, messageId, type, orderId, queue, reason, deadLetteredAt, times, deliveries, traceParent, bytes } = letter;
  const { event, otherFields } = letter.payload;
  return [
    formatTable(
      [],
      [
        ['id', messageId === null ? `${id} (of its content: it has no message id)` : id],
        ['type', type ?? '-'],
        ['order', orderId ?? '-'],
        ['refused by', queue],
        ['since', deadLetteredAt ?? '-'],
        ['reason', reason ?? '-'],
        ['times', String(times)],
        ['deliveries', deliveries === null ? '-' : String(deliveries)],
        ['trace', traceParent ?? '-'],
        ['bytes', String(bytes)],
        ['shipping says', letter.unreadable ?? 'readable'],
        ...(otherFields.length > 0 ? [['not shown', otherFields.join(', ')]] : []),
      ],
    ),
    event === null ? 'its content is not a JSON object, and is not shown' : JSON.stringify(event, null, 2),
  ].join('\n\n');
}

function summary(action: 'retry' | 'discard', letters: readonly DeadLetter[], dryRun: boolean): string {
  const words = {
    retry: (queue: string) => (dryRun ? `would be given back to ${queue}` : `given back to ${queue}`),
    discard: () => (dryRun ? 'would be discarded' : 'discarded'),
  };
  return letters
    .map(({ id, type, orderId, queue }) => {
      const order = orderId === null ? '' : ` of order ${shortId(orderId)}`;
      return `${shortId(id)} ${type ?? '(no type)'}${order} ${words[action](queue)}`;
    })
    .join('\n');
}
