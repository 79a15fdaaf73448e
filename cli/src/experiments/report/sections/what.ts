import { html, type Markup } from '../html.ts';
import type { FaultReport, RunReport } from '../run-report.ts';
import { clockText, verdictWord } from '../words.ts';

/** What was done: why, with which seed, and which faults were injected and seen. */
export function whatSection(report: RunReport): Markup {
  const { experiment, seed, seededBugs, project, startedAt, file, runId, versions } = report;
  const facts: readonly (readonly [string, string])[] = [
    ['run', runId],
    ['seed', seed === undefined ? '–' : String(seed)],
    ['started', startedAt?.toISOString() ?? '–'],
    ['platform', project],
    ['file', file],
    ['tags', experiment.tags.join(', ') || '–'],
    ['made by', versions],
    ...(seededBugs.length > 0 ? [['seeded bugs', seededBugs.join(', ')] as const] : []),
  ];
  return html`<section aria-labelledby="what">
  <h2 id="what">What was done</h2>
  ${experiment.why
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${paragraph}</p>`)}
  ${faultTable(report.faults)}
  <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
</section>`;
}

function faultTable(faults: readonly FaultReport[]): Markup {
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  return html`<div class="scroll"><table class="stacks">
  <caption>Faults, and how each was seen to be in effect</caption>
  <thead><tr><th scope="col">fault</th><th scope="col">target</th><th scope="col">parameters</th><th scope="col">injected</th><th scope="col">reverted</th><th scope="col">witness</th></tr></thead>
  <tbody>${faults.map(faultRow)}</tbody>
</table></div>`;
}

function faultRow({
  fault,
  target,
  parameters,
  injectedMs,
  revertedMs,
  revertEvidence,
  notReverted,
  witness,
}: FaultReport): Markup {
  const end = notReverted ? verdictWord('undo_failed') : clockText(revertedMs);
  return html`<tr>
  <th scope="row">${fault}</th><td data-column="target">${target}</td><td data-column="parameters">${parameters || '–'}</td>
  <td data-column="injected">${clockText(injectedMs)}</td>
  <td data-column="reverted">${end} <span class="muted">${revertEvidence}</span></td>
  <td data-column="witness">${verdictWord(witness?.verdict ?? 'no witness')} ${witness?.evidence}</td>
</tr>`;
}
