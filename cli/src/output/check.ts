import { type CheckResult, type CheckVerdict, type Verdict, worst } from '../shared/verdict.ts';
import type { Style } from './style.ts';
import { formatDuration } from './units.ts';

const MARKS: Readonly<Record<CheckVerdict | 'warning', { word: string; colour: 'green' | 'red' | 'yellow' | 'dim' }>> =
  {
    pass: { word: 'pass', colour: 'green' },
    fail: { word: 'FAIL', colour: 'red' },
    unknown: { word: 'unknown', colour: 'yellow' },
    warning: { word: 'warn', colour: 'yellow' },
    skipped: { word: 'skipped', colour: 'dim' },
  };

const INDENT = '        ';

/** One check as one line, what was expected and its details below it. `groupWidth` 0 leaves the group out. */
export function renderCheck(check: CheckResult, style: Style, { groupWidth = 0 } = {}): string {
  const { verdict, group = '', name, evidence, expected, observed, details, tookMs, fix } = check;
  const { word, colour } = MARKS[isWarning(check) ? 'warning' : verdict];
  const time = tookMs === undefined ? '' : ` ${style.dim(`(${formatDuration(tookMs)})`)}`;
  const head = [style[colour](word.padEnd(7)), ...(groupWidth > 0 ? [group.padEnd(groupWidth)] : []), name].join(' ');
  const more = [...(details?.split('\n') ?? []), ...(fix === undefined ? [] : [style.dim(fix)])];
  const below = more.map((line) => `${INDENT}${line}`);
  if (expected === undefined) return [`${head}: ${evidence}${time}`, ...below].join('\n');
  return [`${head}${time}`, `${INDENT}expected ${expected}`, `${INDENT}observed ${observed}`, ...below].join('\n');
}

export function isWarning({ verdict, fix }: CheckResult): boolean {
  return verdict === 'pass' && fix !== undefined;
}

/** `10 of 12 checks passed, 1 failed, 1 unknown` */
export function countChecks(checks: readonly Pick<CheckResult, 'verdict'>[]): string {
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length;
  const text = (times: number) => times.toLocaleString('en-US');
  const [passed, failed, unknown] = [count('pass'), count('fail'), count('unknown')];
  const parts = [failed > 0 ? `, ${text(failed)} failed` : '', unknown > 0 ? `, ${text(unknown)} unknown` : ''];
  return `${text(passed)} of ${text(checks.length)} checks passed${parts.join('')}`;
}

/** The counts in the colour of the worst, and how long they took. */
export function renderSummary(checks: readonly CheckResult[], tookMs: number, style: Style): string {
  const { colour } = MARKS[worst(checks.map(({ verdict }) => verdict))];
  return style[colour](`${countChecks(checks)}, in ${formatDuration(tookMs)}`);
}
