import { GLYPHS, type OutcomeStyle, type OutcomeTone } from './page-data.ts';

/** One order as its client saw it, as far as the charts need it. Times in ms since the run began. */
export interface TimedOrder {
  readonly placedMs: number;
  /** Undefined: the run has no end of it. */
  readonly tookMs: number | undefined;
  /** In the words of experiments' `counts`: `Confirmed`, `Cancelled: out of stock`, `503 catalog_unavailable`, `no response`. */
  readonly outcome: string;
  readonly tone: OutcomeTone;
}

const TONES: readonly OutcomeTone[] = ['good', 'warn', 'bad', 'lost'];

/** The outcomes that occurred, with how often: confirmed first, unclear last, the more frequent first. */
export function outcomesOf(orders: readonly TimedOrder[]): readonly (OutcomeStyle & { readonly count: number })[] {
  const counts = new Map<string, { label: string; tone: OutcomeTone; count: number }>();
  for (const { outcome, tone } of orders) {
    const key = outcomeKey({ outcome, tone });
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { label: outcome, tone, count: 1 });
    else known.count++;
  }
  return [...counts.values()]
    .sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone) || b.count - a.count || (a.label < b.label ? -1 : 1))
    .map((one, index) => ({ ...one, glyph: index % GLYPHS.length }));
}

/** The same words may be a clear refusal for one order and leave another's fate open. */
export function outcomeKey({ outcome, tone }: Pick<TimedOrder, 'outcome' | 'tone'>): string {
  return `${tone} ${outcome}`;
}
