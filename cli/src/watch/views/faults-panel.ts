import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Lease } from '../../chaos/lease.ts';
import type { Style } from '../../output/style.ts';
import { leaseEnd } from './chart-panel.ts';
import { fit, fitLines, rowOf } from './text.ts';

export interface FaultsProps {
  readonly faults: readonly Lease[];
  readonly nowMs: number;
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** Active faults, the newest first, and when the TTL of each ends. */
export const FaultsPanel = memo(({ faults, nowMs, width, height, style }: FaultsProps) => {
  const newest = [...faults].reverse();
  const room = height - 1;
  const shown = newest.length > room ? newest.slice(0, room - 1) : newest;
  const lines = [
    `${style.bold(' FAULTS ')}${style.dim(newest.length === 0 ? 'none; f injects one' : 'c reverts one')}`,
    ...shown.map((lease) =>
      rowOf([
        [` ▒ ${lease.target} ${lease.fault}`, width - 18, style.magenta],
        [leaseEnd(lease, nowMs), -18],
      ]),
    ),
    ...(shown.length < newest.length ? [style.dim(fit(`   and ${newest.length - shown.length} more`, width))] : []),
  ];
  return h(Text, null, fitLines(lines, height));
});
