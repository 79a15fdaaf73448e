import { html, type Markup } from '../html.ts';
import { type RunReport, VERDICT_WORDS } from '../run-report.ts';
import { clockText, durationText, toneOf } from '../words.ts';

/** Title and verdict with its reasons: what a reader came for. */
export function verdictSection(report: RunReport): Markup {
  const { experiment, verdict, reasons, exitCode, endMs } = report;
  const word = verdict === 'none' ? 'interrupted, no verdict' : verdict;
  const code = exitCode === undefined ? '' : ` · exit code ${exitCode}`;
  return html`<header>
  <p class="muted">${experiment.id}</p>
  <h1>${experiment.title}</h1>
  <div class="verdict ${toneOf(verdict)}">
    <p><strong class="word">${word}</strong> · ${VERDICT_WORDS[verdict]}</p>
    ${reasons.length === 0 ? undefined : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
    <p class="muted">took ${durationText(endMs)}${code}${lastPhase(report)}</p>
  </div>
</header>`;
}

/** Where a run that has no verdict had come to. */
function lastPhase({ verdict, phases, endMs }: RunReport): string {
  const open = phases.findLast((phase) => phase.endMs === undefined) ?? phases.at(-1);
  if (verdict !== 'none' || open === undefined) return '';
  return ` · last heard of in the phase "${open.phase}", ${clockText(endMs)} after the beginning`;
}
