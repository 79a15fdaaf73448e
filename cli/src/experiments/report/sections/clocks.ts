import { html, type Markup } from '../../../report/html.ts';
import { clockText, durationText } from '../../../report/words.ts';
import type { Clocks } from '../../journal-records.ts';
import { spansOf } from '../run-report.ts';

/** When things happened, since the run began, and how long they took. */
export function clocksSection(clocks: Clocks): Markup {
  const { degradeMs, recoverMs, drainMs } = spansOf(clocks);
  const tiles: readonly (readonly [string, string, string])[] = [
    ['injected', clockText(clocks.injectedMs), 'the first fault acts'],
    ['witnessed', clockText(clocks.witnessedMs), 'it is seen to be in effect'],
    ['first symptom', clockText(clocks.firstSymptomMs), 'a client notices'],
    ['reverted', clockText(clocks.revertedMs), 'every fault is observed to be gone'],
    ['steady', clockText(clocks.steadyMs), 'the steady state holds again'],
    ['drained', clockText(clocks.drainedMs), 'outbox and compensations at 0'],
    ['to degrade', durationText(degradeMs), 'injected to first symptom'],
    ['to recover', durationText(recoverMs), 'reverted to steady'],
    ['to drain', durationText(drainMs), 'reverted to drained'],
  ];
  return html`<section aria-labelledby="clocks">
  <h2 id="clocks">Clocks</h2>
  <dl class="clocks">${tiles.map(
    ([name, value, meaning]) => html`<div><dt>${name}</dt><dd>${value}<small>${meaning}</small></dd></div>`,
  )}</dl>
</section>`;
}
