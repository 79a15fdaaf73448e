import { formatCount } from '../../../output/units.ts';
import { html, type Markup } from '../../../report/html.ts';
import { clockText, durationText, traceId, verdictWord } from '../../../report/words.ts';
import type { ConditionReport, RunReport, StepReport } from '../run-report.ts';

/** Evidence longer than this starts on separate lines (tree diffs, lists). */
const ONE_LINE = 120;

/** Every step with what was expected and seen; what did not hold is open, the rest can be opened. */
export function checksSection({ steps, conditions }: RunReport): Markup {
  return html`<section aria-labelledby="checks">
  <h2 id="checks">Checks and their evidence</h2>
  ${steps.length === 0 ? html`<p>The journal has no step.</p>` : stepsByPhase(steps)}
  ${conditionTable(conditions)}
</section>`;
}

function stepsByPhase(steps: readonly StepReport[]): Markup[] {
  return [...Map.groupBy(steps, ({ phase }) => phase)].map(
    ([phase, ofPhase]) => html`<h3>${phase}</h3>${ofPhase.map(stepDetails)}`,
  );
}

function stepDetails(step: StepReport): Markup {
  const { name, kind, provider, verdict, beginMs, endMs, observed } = step;
  const took = endMs === undefined ? undefined : endMs - beginMs;
  const short = observed.length > ONE_LINE ? `${observed.slice(0, ONE_LINE)}…` : observed;
  return html`<details${verdict === 'pass' ? undefined : html` open`}>
  <summary>${verdictWord(verdict)} <strong>${name}</strong> <span class="muted">${kind === provider ? kind : `${kind} ${provider}`}, ${durationText(took)}</span> ${short}</summary>
  <dl>
    ${fact('began', `${clockText(beginMs)} after the run's beginning`)}
    ${fact('expected', step.expected)}
    ${fact('observed', observed)}
    ${step.attempts === undefined ? undefined : fact('attempts', formatCount(step.attempts))}
    ${step.traceIds.length === 0 ? undefined : html`<dt>traces</dt><dd>${step.traceIds.map((id) => html`${traceId(id)} `)}</dd>`}
  </dl>
  ${step.evidence === '' ? undefined : html`<pre>${step.evidence}</pre>`}
</details>`;
}

function fact(name: string, text: string): Markup | undefined {
  if (text === '') return undefined;
  return html`<dt>${name}</dt><dd>${text.includes('\n') ? html`<pre>${text}</pre>` : text}</dd>`;
}

const KINDS = { reach: 'must have happened', never: 'must not have happened' } as const;

function conditionTable(conditions: readonly ConditionReport[]): Markup | undefined {
  if (conditions.length === 0) return undefined;
  return html`<div class="scroll"><table>
  <caption>Events that must, and must not, have happened during the run</caption>
  <thead><tr><th scope="col">verdict</th><th scope="col">condition</th><th scope="col">rule</th><th scope="col" class="number">count</th><th scope="col">evidence</th></tr></thead>
  <tbody>${conditions.map(
    ({ kind, condition, verdict, count, evidence }) => html`<tr><td>${verdictWord(verdict)}</td>
<th scope="row">${condition}</th><td>${KINDS[kind]}</td><td class="number">${count === undefined ? '–' : formatCount(count)}</td><td>${evidence}</td></tr>`,
  )}</tbody>
</table></div>`;
}
