import { formatCount } from '../output/units.ts';
import type { Measured } from './measured.ts';

/** How many requests got the expected response: `100 %`, `99.87 %`; undefined where none was sent. Pure. */
export function shareText({ sent, expected }: Pick<Measured, 'sent' | 'expected'>): string | undefined {
  if (sent === 0) return undefined;
  return `${((100 * expected) / sent).toFixed(expected === sent ? 0 : 2)} %`;
}

/** `1,204 Confirmed, 31 Cancelled: out of stock`; empty where nothing was counted. Pure. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, times]) => `${formatCount(times)} ${name}`)
    .join(', ');
}
