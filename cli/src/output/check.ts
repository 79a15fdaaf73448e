import { formatDuration } from '../shared/duration.ts';
import { type CheckResult, type CheckVerdict, type RunVerdict, type Verdict, worst } from '../shared/verdict.ts';
import type { Style } from './style.ts';
import { formatCount } from './units.ts';

export const verdictColours = {
  pass: 'green',
  fail: 'red',
  unknown: 'yellow',
  skipped: 'dim',
  dirty: 'red',
  interrupted: 'yellow',
} as const satisfies Record<CheckVerdict | RunVerdict, keyof Style>;

/** The verdict in its colour; shorter ones are filled up with spaces. */
export function paintVerdict(verdict: CheckVerdict | RunVerdict, style: Style, width = 0): string {
  return style[verdictColours[verdict]](verdict.padEnd(width));
}

const MARK_WIDTH = 7;

/** A failure stands out without colours too. */
function markOf(check: CheckResult, style: Style): string {
  if (isWarning(check)) return style.yellow('warn'.padEnd(MARK_WIDTH));
  if (check.verdict === 'fail') return style.red('FAIL'.padEnd(MARK_WIDTH));
  return paintVerdict(check.verdict, style, MARK_WIDTH);
}

const INDENT = '        ';

/** One check as one line, what was expected and its details below it. `groupWidth` 0 leaves the group out. */
export function renderCheck(check: CheckResult, style: Style, { groupWidth = 0 } = {}): string {
  const { group = '', name, evidence, expected, observed, details, tookMs, fix } = check;
  const time = tookMs === undefined ? '' : ` ${style.dim(`(${formatDuration(tookMs)})`)}`;
  const head = [markOf(check, style), ...(groupWidth > 0 ? [group.padEnd(groupWidth)] : []), name].join(' ');
  const more = [...(details?.split('\n') ?? []), ...(fix === undefined ? [] : [style.dim(fix)])];
  const below = more.map((line) => `${INDENT}${line}`);
  if (expected === undefined) return [`${head}: ${evidence}${time}`, ...below].join('\n');
  return [
    `${head}${time}`,
    `${INDENT}expected ${expected}`,
    `${INDENT}observed ${observed ?? evidence}`,
    ...below,
  ].join('\n');
}

export function isWarning({ verdict, fix }: CheckResult): boolean {
  return verdict === 'pass' && fix !== undefined;
}

/** `10 of 12 checks passed, 1 failed, 1 unknown` */
export function countChecks(checks: readonly Pick<CheckResult, 'verdict'>[]): string {
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length;
  const [passed, failed, unknown] = [count('pass'), count('fail'), count('unknown')];
  const parts = [
    failed > 0 ? `, ${formatCount(failed)} failed` : '',
    unknown > 0 ? `, ${formatCount(unknown)} unknown` : '',
  ];
  return `${formatCount(passed)} of ${formatCount(checks.length)} checks passed${parts.join('')}`;
}

/** The counts in the colour of the worst, and how long they took. */
export function renderSummary(checks: readonly CheckResult[], tookMs: number, style: Style): string {
  const verdict = worst(checks.map((check) => check.verdict));
  return style[verdictColours[verdict]](`${countChecks(checks)}, in ${formatDuration(tookMs)}`);
}
