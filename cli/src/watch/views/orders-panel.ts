import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { formatMoney } from '../../shop/money.ts';
import type { OrderRow } from '../../shop/orders-table.ts';
import { shortId } from '../../shop/times.ts';
import { clockText, fit, fitLines, rowOf } from './text.ts';

export interface OrdersProps {
  readonly orders: readonly OrderRow[] | undefined;
  /** Of `orders`. */
  readonly selected: number;
  /** Why there are none, or old ones. */
  readonly problem: string | undefined;
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** From here on there is room for the order's total. */
const TOTAL_FROM = 60;

/** The newest orders; the one under the cursor is always among those shown. */
export const OrdersPanel = memo(({ orders, selected, problem, width, height, style }: OrdersProps) => {
  const room = height - 1;
  const from = Math.max(0, Math.min(selected - room + 1, (orders?.length ?? 0) - room));
  const shown = orders?.slice(from, from + room) ?? [];
  const lines = [
    title(problem, shown.length, width, style),
    ...shown.map((order, index) => line(order, from + index === selected, width, style)),
  ];
  return h(Text, null, fitLines(lines, height));
});

function title(problem: string | undefined, count: number, width: number, style: Style): string {
  const head = ' ORDERS ';
  if (problem !== undefined) return style.red(fit(`${head}${problem}`, width));
  const text = count === 0 ? 'none yet; o places one' : 'Enter shows one';
  return `${style.bold(head)}${style.dim(fit(text, width - head.length))}`;
}

function line(order: OrderRow, isSelected: boolean, width: number, style: Style): string {
  const { text, colour } = outcome(order);
  const total = width >= TOTAL_FROM ? 18 : 0;
  return rowOf([
    [isSelected ? '▸' : ' ', 1, style.bold],
    [clockText(order.createdAt.getTime()), 9, style.dim],
    [shortId(order.id), 9, isSelected ? style.bold : undefined],
    [text, width - 19 - total, style[colour]],
    [total === 0 ? '' : formatMoney(order.totalKopiykas, order.currency), -total],
  ]);
}

function outcome({ status, reason, state, open }: OrderRow): { text: string; colour: keyof Style } {
  if (status === 'Confirmed') return { text: '✓ Confirmed', colour: 'green' };
  if (status === 'Cancelled') return { text: `${open ? '↻' : '✗'} ${reason ?? 'Cancelled'}`, colour: 'yellow' };
  return { text: `… ${state}`, colour: 'cyan' };
}
