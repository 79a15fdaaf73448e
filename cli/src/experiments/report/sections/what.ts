import { type Content, html, type Markup } from '../../../report/html.ts';
import { factList, stackedTable } from '../../../report/parts.ts';
import { clockText, verdictWord } from '../../../report/words.ts';
import type { FaultReport, RunReport } from '../run-report.ts';

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
  ${factList(facts)}
</section>`;
}

function faultTable(faults: readonly FaultReport[]): Markup {
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  return stackedTable({
    caption: 'Faults, and how each was seen to be in effect',
    columns: ['fault', 'target', 'parameters', 'injected', 'reverted', 'witness'],
    header: 'fault',
    rows: faults.map(faultCells),
  });
}

function faultCells(report: FaultReport): readonly Content[] {
  const { fault, target, parameters, injectedMs, revertedMs, revertEvidence, notReverted, witness } = report;
  const end = notReverted ? verdictWord('undo_failed') : clockText(revertedMs);
  return [
    fault,
    target,
    parameters || '–',
    clockText(injectedMs),
    [end, html` <span class="muted">${revertEvidence}</span>`],
    [verdictWord(witness?.verdict ?? 'no witness'), ` ${witness?.evidence ?? ''}`],
  ];
}
