import { setTimeout as delay } from 'node:timers/promises';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError, messageOf } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import { formatTable } from '../../output/table.ts';
import { widthOf } from '../../output/width.ts';
import { wrapText } from '../../output/wrap.ts';
import {
  type ChangeKind,
  changeFile,
  type KeptChanges,
  type RecordedChange,
  readChanges,
} from '../../platform/change-log.ts';
import type { Project } from '../../platform/project.ts';

export interface ChangesOptions extends CommonOptions {
  /** ms since 1970. */
  readonly since?: number;
  readonly kind?: readonly ChangeKind[];
  readonly tail?: number;
  readonly follow?: boolean;
}

const DEFAULT_TAIL = 50;
const LOOK_EVERY_MS = 500;

/** `shopctl changes`. */
export async function runChanges(options: ChangesOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const { output } = deps;
  const kept = await read(project);
  for (const place of kept.unreadable) output.warn(`${place} is not a change: it was cut off; the others are complete`);
  const { since, tail = since === undefined ? DEFAULT_TAIL : Infinity } = options;
  const chosen = select(kept.changes, options);
  const shown = tail === Infinity ? chosen : chosen.slice(Math.max(0, chosen.length - tail));
  if (options.follow) return follow({ project, kept, shown, options, deps });
  output.result({ changes: shown, unreadable: kept.unreadable }, () => describe(shown, kept, widthFor(output)));
}

async function read(project: Project): Promise<KeptChanges> {
  try {
    return await readChanges(project);
  } catch (cause) {
    throw new CliError({
      code: 'state_unreadable',
      what: 'the change log cannot be read',
      why: messageOf(cause),
      next: `make ${changeFile(project)} readable again`,
      cause,
    });
  }
}

function select(changes: readonly RecordedChange[], { since, kind }: ChangesOptions): readonly RecordedChange[] {
  return changes.filter(
    (change) => (since === undefined || Date.parse(change.time) >= since) && (!kind || kind.includes(change.kind)),
  );
}

interface Following {
  readonly project: Project;
  readonly kept: KeptChanges;
  readonly shown: readonly RecordedChange[];
  readonly options: ChangesOptions;
  readonly deps: CommandDeps;
}

/** The file may be rotated meanwhile, so new ones are known by their ids. */
async function follow({ project, kept, shown, options, deps: { output, signal } }: Following): Promise<void> {
  const print = (change: RecordedChange) =>
    output.record(change, () => inWidth(row(change).join('  '), [change], widthFor(output)));
  shown.forEach(print);
  let known = new Set(kept.changes.map(({ id }) => id));
  for (;;) {
    await delay(LOOK_EVERY_MS, undefined, { signal });
    const { changes } = await read(project);
    select(
      changes.filter(({ id }) => !known.has(id)),
      options,
    ).forEach(print);
    known = new Set(changes.map(({ id }) => id));
  }
}

/** Other programs read a change as one line; a terminal would break it anywhere. */
function widthFor({ isTerminal, columns }: Output): number {
  return isTerminal ? columns : Number.POSITIVE_INFINITY;
}

function describe(shown: readonly RecordedChange[], { changes }: KeptChanges, width: number): string {
  if (changes.length === 0) return 'nothing was changed yet';
  if (shown.length === 0) return `none of ${changes.length} changes is shown with these options`;
  const table = formatTable(['TIME (UTC)', 'KIND', 'TARGET', 'FROM -> TO', 'BY', 'REASON'], shown.map(row));
  return inWidth(table, shown, width);
}

/** The text, or, where it is too wide, each change on several lines: what, and below it who and why. */
function inWidth(text: string, changes: readonly RecordedChange[], width: number): string {
  if (text.split('\n').every((line) => widthOf(line) <= width)) return text;
  return changes
    .map((change) => {
      const [time, kind, target, fromTo, by, reason] = row(change);
      const what = `${time}  ${kind}  ${target}${fromTo === '' ? '' : `: ${fromTo}`}`;
      const who = `by ${by}${reason === '' ? '' : `: ${reason}`}`;
      return `${wrapText(what, width, INDENT)}\n${INDENT}${wrapText(who, width, INDENT)}`;
    })
    .join('\n');
}

const INDENT = '    ';

function row({ time, kind, target, from, to, orderId, by, reason = '', failed }: RecordedChange): string[] {
  const change = from === null && to === null ? '' : `${from ?? '(none)'} -> ${to ?? '(none)'}`;
  return [
    time.replace('T', ' ').replace(/\.\d+Z$/, ''),
    kind,
    orderId === undefined ? target : `${target} (order ${orderId})`,
    failed === undefined ? change : `${change} (failed: ${failed})`,
    `${by.user} (${by.source})`,
    reason,
  ];
}
