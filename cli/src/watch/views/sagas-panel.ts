import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { formatCount } from '../../output/units.ts';
import type { OpenSagas } from '../../shop/open-sagas.ts';
import type { Figures } from '../model/figures.ts';
import { fitLines, msText, rateText, rowOf } from './text.ts';

const TITLE = ' SAGAS';

export interface SagasProps {
  readonly open: OpenSagas | undefined;
  readonly confirmed: Figures['confirmed'] | undefined;
  readonly cancelled: Figures['cancelled'] | undefined;
  readonly saga: Figures['saga'];
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** Sagas that have not ended, those that have by their status, and how long they took. */
export const SagasPanel = memo(({ open, confirmed, cancelled, saga, width, height, style }: SagasProps) => {
  const lines = [
    openLine(open, width, style),
    ended('✓ Confirmed', confirmed, style.green),
    ended('✗ Cancelled', cancelled, style.yellow),
    rowOf([
      [' took', 6],
      ...(
        [
          ['p50', saga?.p50],
          ['p95', saga?.p95],
          ['p99', saga?.p99],
        ] as const
      ).flatMap(
        ([name, ms]) =>
          [
            [` ${name}`, 5, style.dim],
            [msText(ms), -6],
          ] as const,
      ),
    ]),
  ];
  return h(Text, null, fitLines(lines, height));
});

/** Counts of three and more digits take the place of the title. */
function openLine(open: OpenSagas | undefined, width: number, style: Style): string {
  const parts = [
    { count: open?.inFlight, what: 'in flight', colour: 'cyan' },
    { count: open?.compensating, what: 'compensating', colour: 'yellow' },
    { count: open?.stuck, what: 'stuck', colour: 'red' },
  ] as const;
  const texts = parts.map(({ count, what }) => ` ${count === undefined ? '-' : formatCount(count)} ${what}`);
  const painted = texts.map((text, index) => {
    const { count = 0, colour } = parts[index] ?? {};
    return count > 0 && colour !== undefined ? style[colour](text) : text;
  });
  const title = TITLE.length + texts.join('').length <= width ? style.bold(TITLE) : '';
  return `${title}${painted.join('')}`;
}

function ended(label: string, of: SagasProps['confirmed'], paint: (text: string) => string): string {
  return rowOf([
    [` ${label}`, 13, paint],
    [formatCount(of?.total ?? 0), -12],
    [`${rateText(of?.perSecond ?? 0)}/s`, -15],
  ]);
}
