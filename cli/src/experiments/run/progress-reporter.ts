import { paintVerdict } from '../../output/check.ts';
import type { Output } from '../../output/output.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { EngineEvent } from './engine.ts';

/** Longest measured text shown while it runs; all of it is in the journal. */
const SHOWN = 160;

/** Reports what an experiment does while it does it, a line a step, on stderr. */
export function createProgressReporter(output: Output): (event: EngineEvent) => void {
  return (event) => {
    if (event.type === 'phase') output.note(output.style.dim(`  ${event.phase}`));
    if (event.type === 'remark') output.note(output.style.yellow(`  ${event.text}`));
    if (event.type !== 'stepEnd') return;
    const { name, result, tookMs } = event;
    const word = paintVerdict(result.verdict, output.style, 7);
    const measured = shorten(result.observed ?? '', SHOWN);
    const wanted =
      result.verdict === 'pass' || !result.expected ? '' : ` (expected ${shorten(result.expected, SHOWN)})`;
    output.note(`    ${word} ${name}, ${formatDuration(tookMs)}: ${measured}${wanted}`);
  };
}

/** At most so many characters, and `…` where there were more. */
export function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
