import type { Style } from '../output/style.ts';
import { formatDuration } from '../output/units.ts';
import type { CheckResult, Verdict } from './check.ts';

const MARKS: Readonly<Record<Verdict, { word: string; colour: 'green' | 'red' | 'yellow' }>> = {
  ok: { word: 'ok', colour: 'green' },
  failed: { word: 'FAIL', colour: 'red' },
  unknown: { word: 'unknown', colour: 'yellow' },
};

/** One check as one line, with more below it when it did not hold. */
export function renderResult(
  { verdict, title, evidence, expected, got, details, durationMs }: CheckResult,
  style: Style,
): string {
  const { word, colour } = MARKS[verdict];
  const time = style.dim(`(${formatDuration(durationMs)})`);
  if (expected === undefined) {
    return [`${style[colour](word.padEnd(7))} ${title}: ${evidence} ${time}`, ...indented(details)].join('\n');
  }
  const lines = [
    `${style[colour](word.padEnd(7))} ${title} ${time}`,
    `        expected ${expected}`,
    `        got      ${got}`,
  ];
  return [...lines, ...indented(details)].join('\n');
}

function indented(details: string | undefined): string[] {
  return details === undefined ? [] : details.split('\n').map((line) => `        ${line}`);
}

/** `11 of 12 checks held, 1 failed, in 4.2 s` */
export function renderSummary(results: readonly CheckResult[], tookMs: number, style: Style): string {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const [held, failed, unknown] = [count('ok'), count('failed'), count('unknown')];
  const parts = [failed > 0 ? `${failed} failed` : '', unknown > 0 ? `${unknown} unknown` : ''].filter(
    (part) => part !== '',
  );
  const colour = failed > 0 ? 'red' : unknown > 0 ? 'yellow' : 'green';
  return style[colour](
    `${held} of ${results.length} checks held${parts.map((part) => `, ${part}`).join('')}, in ${formatDuration(tookMs)}`,
  );
}
