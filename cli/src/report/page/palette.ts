import type { OutcomeTone, SpanTone } from '../page-data.ts';

export type Palette = Readonly<Record<'ink' | 'muted' | 'grid' | 'surface' | OutcomeTone | SpanTone, string>>;

const NAMES = ['ink', 'muted', 'grid', 'surface', 'good', 'warn', 'bad', 'lost', 'plain', 'fault'] as const;

/** The colours in force now, light, dark or for paper: page.css has them. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette;
}
