import { formatBytes, formatCount } from '../../output/units.ts';
import { cutText, padText } from '../../output/width.ts';
import { formatDuration } from '../../shared/duration.ts';

type Paint = (text: string) => string;

/** One cell of a row: its text is padded or cut to a width first and painted then, so that colours never move columns. */
export type Cell = readonly [text: string, width: number, paint?: Paint];

/** Cells side by side; a negative width stands for a cell that is aligned to the right. */
export function rowOf(cells: readonly Cell[]): string {
  return cells.map(([text, width, paint]) => (paint ?? asItIs)(fit(text, width))).join('');
}

/** Exactly so many columns: to the right when `width` is negative. */
export function fit(text: string, width: number): string {
  return padText(cutText(text, Math.abs(width)), width);
}

function asItIs(text: string): string {
  return text;
}

/** Exactly so many lines, the ones beyond left out and missing ones empty. */
export function fitLines(lines: readonly string[], height: number): string {
  return Array.from({ length: Math.max(0, height) }, (_, index) => lines[index] ?? '').join('\n');
}

/** Per second, without the unit. */
export function rateText(perSecond: number): string {
  return perSecond >= 1_000 ? formatCount(perSecond) : perSecond.toFixed(1);
}

/** "9.2 ms", "120 ms", "1.52 s"; "-" for nothing. */
export function msText(ms: number | undefined): string {
  if (ms === undefined) return '-';
  return ms < 10 ? `${ms.toFixed(1)} ms` : formatDuration(ms);
}

export function memoryText(bytes: number | undefined): string {
  return bytes === undefined ? '-' : formatBytes(bytes);
}

export function cpuText(percent: number | undefined): string {
  return percent === undefined ? '-' : `${Math.round(percent)} %`;
}

/** "19:42:07" of a moment, UTC as everywhere on the platform. */
export function clockText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** "0:42", "12:05", "1:02:05": whole seconds in as few characters as there may be. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (part: number) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}

/** "30 s", "5 min", "1 h 5 min": a length that a user chose, in whole seconds. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000).replace(/ 0 (s|min)$/, '');
}

/** "50", "2k", "5M": an end of a scale. */
export function scaleText(value: number): string {
  if (value < 1_000) return String(value);
  return value < 1_000_000 ? `${value / 1_000}k` : `${value / 1_000_000}M`;
}
