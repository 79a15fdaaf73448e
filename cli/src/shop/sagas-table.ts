import { formatTable } from '../output/table.ts';
import { cutText } from '../output/width.ts';
import { formatDuration } from '../shared/duration.ts';
import type { OrderRow } from './orders-table.ts';
import type { View } from './steps-table.ts';
import { stuckReasons } from './stuck.ts';
import { shortId } from './times.ts';

/** A line a saga (NEXT: time until the next try); under a stuck one, or one with an error, a second line says what is wrong. */
export function formatSagas(sagas: readonly OrderRow[], view: View): string {
  const [header = '', ...lines] = formatTable(
    ['ORDER', 'STATE', 'AGE', 'OWNER', 'PENDING', 'TRY', 'NEXT'],
    sagas.map(cells),
  ).split('\n');
  return [header, ...sagas.flatMap((saga, index) => [lines[index] ?? '', ...remarks(saga, view)])].join('\n');
}

function cells(saga: OrderRow): string[] {
  return [
    shortId(saga.id),
    saga.state,
    formatDuration(saga.readAt.getTime() - saga.createdAt.getTime()),
    ownerOf(saga),
    saga.pending.map((name) => name.split(' ')[0]).join(', ') || '-',
    String(saga.attempts),
    nextOf(saga),
  ];
}

/** Who drives a saga matters while it is open. */
function ownerOf({ open, owner }: OrderRow): string {
  if (!open) return owner.instance ?? '-';
  if (owner.instance === null) return 'gone';
  return owner.alive ? owner.instance : `${owner.instance} gone`;
}

function nextOf({ open, nextAttemptAt, readAt }: OrderRow): string {
  if (!open || nextAttemptAt === null) return '-';
  const inMs = nextAttemptAt.getTime() - readAt.getTime();
  return inMs > 0 ? formatDuration(inMs) : 'due';
}

function remarks(saga: OrderRow, { style, columns }: View): string[] {
  const stuck = stuckReasons(saga);
  return [
    ...(stuck.length === 0 ? [] : [`  ${style.yellow('stuck:')} ${stuck.join('; ')}`]),
    ...(saga.open && saga.lastError !== null
      ? [`  ${style.red('error:')} ${cutText(saga.lastError, columns - 9)}`]
      : []),
  ];
}
