import { wrapText } from '../output/wrap.ts';
import { formatMoney } from './money.ts';
import type { OrderRow } from './orders-table.ts';
import { failedRounds, formatLines } from './saga-steps.ts';
import type { View } from './steps-table.ts';
import { formatTime } from './times.ts';

const LABEL_WIDTH = 13;

/** Label and value, one a line; long values go on under themselves. */
export function formatFacts(facts: readonly (readonly [string, string])[], { style, columns }: View): string {
  return facts
    .map(
      ([label, value]) => `${style.dim(label.padEnd(LABEL_WIDTH))}${wrapText(value, columns, ' '.repeat(LABEL_WIDTH))}`,
    )
    .join('\n');
}

/** The order's own facts, without its customer. */
export function orderFacts(order: OrderRow): [string, string][] {
  const response = order.status === null ? 'not decided yet' : order.status;
  return [
    ['order', order.id],
    ['status', order.reason === null ? response : `${response}: ${order.reason}`],
    ['total', formatMoney(order.totalKopiykas, order.currency)],
    ['lines', formatLines(order.lines)],
    ['placed', formatTime(order.createdAt)],
    ['decided', order.decidedAt === null ? '-' : formatTime(order.decidedAt)],
    ['trace', order.traceId ?? '-'],
  ];
}

/** How the saga stands. */
export function sagaFacts(order: OrderRow): [string, string][] {
  return [
    ['saga', `${order.state}${order.open ? '' : ' (ended)'}, version ${order.version}`],
    ['driven by', driverOf(order)],
    ...(order.pending.length === 0 ? [] : ([['pending', order.pending.join(', ')]] as [string, string][])),
    ...(order.attempts === 0 ? [] : ([['attempts', failedRounds(order.attempts)]] as [string, string][])),
    ...(order.lastError === null ? [] : ([['last error', order.lastError]] as [string, string][])),
    ...(order.nextAttemptAt === null ? [] : ([['next try', formatTime(order.nextAttemptAt)]] as [string, string][])),
  ];
}

/** The lease matters while there is something to drive. */
function driverOf({ open, owner }: OrderRow): string {
  if (owner.instance === null) return `an instance that is gone (${owner.id})`;
  if (!open) return owner.instance;
  return `${owner.instance}, ${owner.alive ? 'its lease lives' : 'its lease has ended'}`;
}

/** Colour of a status. */
export function paintStatus(status: OrderRow['status'], { style }: Pick<View, 'style'>): string {
  if (status === null) return style.cyan('open');
  return status === 'Confirmed' ? style.green(status) : style.yellow(status);
}
