import type { Violation } from '../audit/invariant.ts';
import { formatDuration } from '../shared/duration.ts';
import { html, type Markup } from './html.ts';
import type { OutcomeTone } from './page-data.ts';

/** What a verdict looks like: its word is always written, the tone only colours it. */
export function toneOf(word: string): OutcomeTone {
  if (['pass', 'observed'].includes(word)) return 'good';
  if (['fail', 'dirty', 'not_observed', 'undo_failed'].includes(word)) return 'bad';
  return word === 'interrupted' || word === 'none' ? 'lost' : 'warn';
}

const MARKS: Readonly<Record<OutcomeTone, string>> = { good: '✓', warn: '?', bad: '✗', lost: '…' };

/** `✓ pass`, coloured. */
export function verdictWord(word: string | undefined): Markup {
  const text = word ?? 'not ended';
  const tone = toneOf(text === 'not ended' ? 'none' : text);
  const mark = text === 'skipped' ? '–' : MARKS[tone];
  return html`<span class="word ${tone}">${mark} ${text}</span>`;
}

/** A duration, or a dash where it is not known. */
export function durationText(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms);
}

/** A time since the run began: `1:05.2`. */
export function clockText(ms: number | undefined): string {
  if (ms === undefined) return '–';
  const tenths = Math.round(ms / 100);
  const seconds = String(Math.floor((tenths % 600) / 10)).padStart(2, '0');
  return `${Math.floor(tenths / 600)}:${seconds}.${tenths % 10}`;
}

/** One trace id, selected whole by one click. */
export function traceId(id: string): Markup {
  return html`<code data-trace>${id}</code>`;
}

/** Keys and values in one line: `edge orders-payments, at-least 1`. Nested values are written as JSON. */
export function pairsText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

/** `lost 0192...: no shipment`. */
export function violationText({ kind, orderId, detail }: Violation): string {
  return orderId === undefined ? `${kind}: ${detail}` : `${kind} ${orderId}: ${detail}`;
}
