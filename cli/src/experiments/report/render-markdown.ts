import { formatCount } from '../../output/units.ts';
import { inlineMarkdown as inline, markdownTable as table } from '../../report/markdown.ts';
import { durationText } from '../../report/words.ts';
import type { JournalRecord } from '../journal-records.ts';
import { type PhaseNumbers, phaseNumbers } from './phase-numbers.ts';
import { readRun } from './read-run.ts';
import { type RunReport, spansOf, VERDICT_WORDS } from './run-report.ts';

/** A run in short, for the page of a CI job: verdict and reasons, what did not hold, clocks and numbers. */
export function renderMarkdown(records: readonly JournalRecord[]): string {
  const report = readRun(records);
  const { experiment, verdict, reasons, runId, seed } = report;
  const word = verdict === 'none' ? 'interrupted, no verdict' : verdict;
  return [
    `## ${inline(`${experiment.id} ${experiment.title}`)}: ${word}`,
    VERDICT_WORDS[verdict],
    reasons.map((reason) => `- ${inline(reason)}`).join('\n'),
    `Run ${inline(runId)}, seed ${seed ?? '–'}, took ${durationText(report.endMs)}. ${clockLine(report)}`,
    table(['fault', 'target', 'witness'], faultRows(report)),
    table(['not passed', 'expected', 'observed'], problemRows(report)),
    table(
      ['placed', 'orders', 'confirmed', 'cancelled', 'refused', 'unclear', 'p50', 'p95'],
      phaseNumbers(report.orders).map(numberRow),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function clockLine({ clocks }: RunReport): string {
  const { degradeMs, recoverMs, drainMs } = spansOf(clocks);
  return `First symptom after ${durationText(degradeMs)}, steady ${durationText(recoverMs)} and drained ${durationText(drainMs)} after the revert.`;
}

function faultRows({ faults }: RunReport): string[][] {
  return faults.map(({ fault, target, witness, notReverted }) => [
    `${fault}${notReverted ? ' (not reverted)' : ''}`,
    target,
    witness === undefined ? 'none' : `${witness.verdict}: ${witness.evidence}`,
  ]);
}

function problemRows({ steps, conditions, audit }: RunReport): string[][] {
  const ofSteps = steps
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ name, verdict = 'not ended', expected, observed, evidence }) => [
      `${name}: ${verdict}`,
      expected,
      observed || evidence,
    ]);
  const ofConditions = conditions
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ kind, condition, verdict, evidence }) => [`${kind}: ${verdict}`, condition, evidence]);
  const ofAudit = (audit?.invariants ?? [])
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ id, title, verdict, evidence }) => [`${id}: ${verdict}`, title, evidence]);
  return [...ofSteps, ...ofConditions, ...ofAudit];
}

function numberRow({ phase, orders, byTone, p50Ms, p95Ms }: PhaseNumbers): string[] {
  const counts = [orders, byTone.good, byTone.warn, byTone.bad, byTone.lost].map(formatCount);
  return [phase, ...counts, durationText(p50Ms), durationText(p95Ms)];
}
