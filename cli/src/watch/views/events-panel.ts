import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import { clockText, fitLines, rowOf } from './text.ts';

export interface EventsProps {
  readonly events: readonly PlatformEvent[];
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** What the supervisor has done and seen, the newest first. */
export const EventsPanel = memo(({ events, width, height, style }: EventsProps) => {
  const shown = [...events].reverse().slice(0, height - 1);
  const lines = [
    style.bold(' EVENTS'),
    ...shown.map(({ time, subject, message }) =>
      rowOf([
        [` ${clockText(Date.parse(time))} `, 10, style.dim],
        [subject, 16],
        [` ${message}`, width - 26, style.dim],
      ]),
    ),
  ];
  return h(Text, null, fitLines(lines, height));
});
