import type { Markup } from '../../../report/html.ts';
import { verdictHeader } from '../../../report/parts.ts';
import { clockText, durationText } from '../../../report/words.ts';
import { type RunReport, VERDICT_WORDS } from '../run-report.ts';

export function verdictSection(report: RunReport): Markup {
  const { experiment, verdict, reasons, exitCode, endMs } = report;
  const code = exitCode === undefined ? '' : ` · exit code ${exitCode}`;
  return verdictHeader({
    kind: experiment.id,
    title: experiment.title,
    verdict,
    ...(verdict === 'none' && { word: 'interrupted, no verdict' }),
    summary: VERDICT_WORDS[verdict],
    reasons,
    footer: `took ${durationText(endMs)}${code}${lastPhase(report)}`,
  });
}

/** Where a run that has no verdict had come to. */
function lastPhase({ verdict, phases, endMs }: RunReport): string {
  const open = phases.findLast((phase) => phase.endMs === undefined) ?? phases.at(-1);
  if (verdict !== 'none' || open === undefined) return '';
  return ` · last heard of in the phase "${open.phase}", ${clockText(endMs)} after the beginning`;
}
