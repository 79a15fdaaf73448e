import { Box, Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { wrapText } from '../../output/wrap.ts';
import { diagnose } from '../../shop/diagnosis.ts';
import { timelineOf } from '../../shop/timeline.ts';
import { formatTimeline } from '../../shop/timeline-page.ts';
import { renderTrace } from '../../trace/render.ts';
import type { OrderDetail, OrderPage } from '../model/model.ts';
import { fit, fitLines } from './text.ts';

export interface OrderPageProps {
  readonly page: OrderPage;
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** From here on trace and timeline stand side by side. */
const BOTH_FROM = 150;
const MARGIN = 1;

/** One order: how it stands in a sentence, its trace as a tree, and its timeline. */
export const OrderView = memo(({ page, width, height, style }: OrderPageProps) => {
  const { detail, problem, id, tab, scroll } = page;
  const inner = width - 2 * MARGIN;
  const head = [style.bold(fit(`ORDER ${id}`, inner)), ...headLines(detail, problem, inner, style), ''];
  const tall = height - head.length - 1;
  const both = width >= BOTH_FROM;
  const half = Math.floor((inner - 2) / 2);
  const bodies = detail === undefined ? [] : bodiesOf(detail, both ? half : inner, style);
  const shown = both ? bodies : bodies.filter(({ name }) => name === tab);
  const last = Math.max(0, ...shown.map(({ lines }) => lines.length - tall));
  const from = Math.min(scroll, last);
  const tabs = both
    ? bodies.map(({ name }) => style.bold(fit(name.toUpperCase(), half + 2))).join('')
    : bodies.map(({ name }) => (name === tab ? style.bold(`▸ ${name}  `) : style.dim(`  ${name}  `))).join('');
  const column = ({ lines, name }: Body) =>
    h(
      Box,
      { key: name, width: both ? half + 2 : inner },
      h(Text, null, fitLines(lines.slice(from, from + tall), tall)),
    );
  return h(
    Box,
    { flexDirection: 'column', height, paddingLeft: MARGIN },
    h(Text, null, [...head, tabs].join('\n')),
    h(Box, { height: tall }, ...shown.map(column)),
  );
});

function headLines(detail: OrderDetail | undefined, problem: string | undefined, width: number, style: Style) {
  const trouble = problem === undefined ? [] : wrapText(problem, width).split('\n').map(style.red);
  if (detail === undefined) return trouble.length > 0 ? trouble : [style.dim('reading ...')];
  const missing = Object.keys(detail.story.unavailable);
  return [
    ...wrapText(diagnose(detail.story), width).split('\n'),
    ...trouble,
    ...(missing.length === 0 ? [] : [style.red(fit(`no response from the databases of ${missing.join(', ')}`, width))]),
    ...(detail.trace?.note ? [style.yellow(fit(`trace: ${detail.trace.note}`, width))] : []),
  ];
}

interface Body {
  readonly name: OrderPage['tab'];
  readonly lines: readonly string[];
}

function bodiesOf({ story, trace }: OrderDetail, columns: number, style: Style): readonly Body[] {
  const tree = trace?.tree ?? { roots: [], orphans: [] };
  return [
    { name: 'trace', lines: renderTrace(tree, { style, columns }).split('\n') },
    { name: 'timeline', lines: formatTimeline(timelineOf(story, tree), { style, columns }).split('\n') },
  ];
}
