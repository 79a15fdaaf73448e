import { Box, Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { wrapText } from '../../output/wrap.ts';
import type { Picker } from '../model/model.ts';
import { choicesShown } from '../model/pickers.ts';
import { spans } from '../model/presets.ts';
import { fit, spanText } from './text.ts';

interface OverlayProps {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
}

interface WindowProps extends OverlayProps {
  readonly title: string;
  readonly hint: string;
  /** Width of a line. */
  readonly inner: number;
  readonly lines: readonly string[];
}

/** Room for a line inside a window: of choices, of the help. */
const CHOICE_COLUMNS = 56;
const HELP_COLUMNS = 74;

/** A window over the middle of the screen, with a clear column to each side; what it covers goes on behind it. */
function windowOver({ columns, rows, style, title, hint, inner, lines }: WindowProps) {
  const rule = (text: string, left: string, right: string) =>
    style.bold(`${left}─ ${text} ${'─'.repeat(Math.max(0, inner - text.length - 1))}${right}`);
  const all = [
    rule(title, '╭', '╮'),
    ...lines.map((line) => `${style.bold('│')} ${line} ${style.bold('│')}`),
    rule(hint, '╰', '╯'),
  ];
  const marginLeft = Math.floor((columns - inner - 6) / 2);
  const marginTop = Math.max(1, Math.floor((rows - all.length) / 2));
  const text = all.map((line) => ` ${line} `).join('\n');
  return h(Box, { position: 'absolute', marginLeft, marginTop }, h(Text, null, text));
}

/** A list to choose from, and under it what the chosen one does. */
export const PickerWindow = memo(({ picker, columns, rows, style }: OverlayProps & { readonly picker: Picker }) => {
  const inner = CHOICE_COLUMNS;
  const shown = choicesShown(picker);
  const isExplained = picker.choices.some(({ detail }) => detail !== '');
  const room = Math.min(picker.choices.length, rows - (isExplained ? 12 : 9));
  const from = Math.max(0, Math.min(picker.index - Math.floor(room / 2), shown.length - room));
  const items = Array.from({ length: room }, (_, index) => {
    const choice = shown[from + index];
    if (choice === undefined) return fit('', inner);
    const isChosen = from + index === picker.index;
    return isChosen ? style.bold(fit(`▸ ${choice.label}`, inner)) : fit(`  ${choice.label}`, inner);
  });
  const detail = wrapText(shown[picker.index]?.detail ?? '', inner).split('\n');
  const lines = [
    style.cyan(fit(headOf(picker), inner)),
    ...items,
    ...(isExplained ? [fit('', inner), ...[0, 1].map((line) => style.dim(fit(detail[line] ?? '', inner)))] : []),
  ];
  const hint = shown.length === 0 ? 'nothing like that; Backspace' : `${picker.index + 1} of ${shown.length}`;
  return windowOver({ columns, rows, style, title: picker.title, hint, inner, lines });
});

/** How long it lasts, and what was typed. */
function headOf({ span, filter }: Picker): string {
  const lasts = span === undefined ? [] : [`for ${spanText(spans[span] ?? 0)} (← → change it)`];
  return [...lasts, filter === '' ? 'type to find' : `with "${filter}"`].join('   ');
}

const help: readonly (readonly [string, string])[] = [
  ['o', 'place an order of one unit of product 1; O chooses another one'],
  ['l', 'start a load: a rate, for a limited time; again ends it'],
  ['f', 'inject a fault: which, where, for how long; it ends automatically'],
  ['c', 'revert a fault'],
  ['r', 'restart a service, one of its replicas, or a component'],
  ['↑ ↓', 'move the cursor in the orders; Home goes back to the newest'],
  ['Enter', 'the trace and the timeline of the order under the cursor'],
  ['q', 'quit; faults go on until their time is over'],
  ['', ''],
  ['●', 'ready, breaker closed        ◐ starting, breaker half-open'],
  ['○', 'stopped, breaker open        ▲ unready   ↻ restarts   ✗ failed'],
  ['▒', 'a fault acts here, or acted then (▓ several)'],
  ['', 'rates and durations are those of the last 5 seconds'],
];

/** What the keys and signs mean. */
export const HelpWindow = memo(({ columns, rows, style }: OverlayProps) => {
  const inner = HELP_COLUMNS;
  const lines = help.map(([key, text]) => `${style.bold(fit(key, 7))}${fit(text, inner - 7)}`);
  return windowOver({ columns, rows, style, title: 'Help', hint: 'any key goes back', inner, lines });
});
