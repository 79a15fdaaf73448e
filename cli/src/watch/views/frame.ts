import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { formatCount } from '../../output/units.ts';
import type { ActiveDrill, PlatformState } from '../../platform/state.ts';
import type { LoadProgress, Notice, Page } from '../model/model.ts';
import { clockText, countdownText, fit, spanText } from './text.ts';

export interface HeaderProps {
  readonly project: string;
  readonly state: PlatformState | undefined;
  /** Why the supervisor does not respond. */
  readonly problem: string | undefined;
  readonly faults: number;
  /** That fire without acknowledgement. */
  readonly pages: number;
  readonly nowMs: number;
  readonly width: number;
  readonly style: Style;
}

const platformSigns = {
  ready: ['●', 'green'],
  starting: ['◐', 'yellow'],
  stopping: ['◑', 'yellow'],
  stopped: ['○', 'yellow'],
  degraded: ['▲', 'red'],
} as const satisfies Record<PlatformState['status'], readonly [string, keyof Style]>;

/** Which platform, how it is, how many pages fire and faults act on it, and the time. */
export const Header = memo(({ project, state, problem, faults, pages, nowMs, width, style }: HeaderProps) => {
  const count = state?.drill === undefined ? faultsText(faults) : drillText(state.drill, nowMs);
  const right = `${count}   ${clockText(nowMs)} UTC `;
  const paging = pages === 0 ? '' : pages === 1 ? '! 1 page   ' : `! ${pages} pages   `;
  const name = ` ${project} `;
  const { word, rest, colour } = platformWords(state, problem, nowMs);
  const middle = fit(rest, width - name.length - word.length - paging.length - right.length);
  const end = faults === 0 ? style.dim(right) : style.magenta(right);
  return h(Text, null, `${style.bold(name)}${style[colour](word)}${middle}${style.red(paging)}${end}`);
});

function faultsText(faults: number): string {
  return faults === 0 ? 'no fault' : faults === 1 ? '▒ 1 fault' : `▒ ${faults} faults`;
}

/** In the place of the faults, so that every round looks the same. */
function drillText({ startedAt, limitMs }: ActiveDrill, nowMs: number): string {
  return `drill ${countdownText(nowMs - Date.parse(startedAt))} of ${countdownText(limitMs)}`;
}

function platformWords(state: PlatformState | undefined, problem: string | undefined, nowMs: number) {
  if (problem !== undefined) return { word: '✗', rest: ` ${problem}; waiting for it`, colour: 'red' } as const;
  if (state === undefined) return { word: '◐ asking', rest: '', colour: 'yellow' } as const;
  const [sign, colour] = platformSigns[state.status];
  const minutes = Math.floor((nowMs - Date.parse(state.startedAt)) / 60_000);
  const up = minutes < 1 ? 'up < 1 min' : `up ${spanText(minutes * 60_000)}`;
  return { word: `${sign} ${state.status}`, rest: `  ${state.gatewayUrl}  ${up}`, colour } as const;
}

export interface NoticeProps {
  readonly notice: Notice | undefined;
  readonly load: LoadProgress | undefined;
  readonly nowMs: number;
  readonly width: number;
  readonly style: Style;
}

const tones = {
  doing: ['…', 'cyan'],
  good: ['✓', 'green'],
  bad: ['✗', 'red'],
  plain: ['·', 'dim'],
} as const satisfies Record<Notice['tone'], readonly [string, keyof Style]>;

/** What the last key came to; to the right the load, while there is one. */
export const NoticeLine = memo(({ notice, load, nowMs, width, style }: NoticeProps) => {
  const right = load === undefined ? '' : loadText(load, nowMs);
  const [sign, colour] = tones[notice?.tone ?? 'plain'];
  const left = notice === undefined ? '' : ` ${sign} ${notice.text}`;
  return h(Text, null, `${style[colour](fit(left, width - right.length))}${style.cyan(right)}`);
});

function loadText({ perSecond, endsAtMs, sent, failed }: LoadProgress, nowMs: number): string {
  const problems = failed === 0 ? '' : `, ${formatCount(failed)} failed`;
  return `  load ${perSecond}/s, ${formatCount(sent)} sent${problems}, ${countdownText(endsAtMs - nowMs)} left `;
}

const keysOf: Readonly<Record<Page['kind'], readonly (readonly [string, string])[]>> = {
  main: [
    ['o', 'order'],
    ['l', 'load'],
    ['f', 'fault'],
    ['c', 'clear'],
    ['r', 'restart'],
    ['↑↓ Enter', 'an order'],
    ['?', 'help'],
    ['q', 'quit'],
  ],
  help: [['any key', 'back']],
  picker: [
    ['↑↓', 'choose'],
    ['Enter', 'do it'],
    ['letters', 'filter'],
    ['Esc', 'back'],
  ],
  order: [
    ['Tab', 'trace or timeline'],
    ['↑↓', 'scroll'],
    ['Esc', 'back'],
  ],
};

/** The keys that do something where one is. */
export const KeysLine = memo(({ page, width, style }: { page: Page['kind']; width: number; style: Style }) => {
  const keys = keysOf[page].map(([key, what]) => ({
    text: `${key} ${what}`,
    painted: `${style.bold(key)} ${style.dim(what)}`,
  }));
  const used = keys.reduce((sum, { text }) => sum + text.length + 2, 1);
  return h(Text, null, ` ${keys.map(({ painted }) => painted).join('  ')}${' '.repeat(Math.max(0, width - used + 1))}`);
});
