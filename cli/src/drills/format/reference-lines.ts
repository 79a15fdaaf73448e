import { durationMs } from '../../shared/duration.ts';

/** One line of a reference solution. */
export type ReferenceLine =
  /** Until a page or a ticket fires: this one, or any that the scenario states. */
  | { readonly kind: 'wait-page'; readonly text: string; readonly alert?: string }
  /** Until the scenario's metric shows its symptom: customers notice none, so no page comes. */
  | { readonly kind: 'wait-symptom'; readonly text: string }
  | { readonly kind: 'wait'; readonly text: string; readonly ms: number }
  /** A command of shopctl; a word may have a placeholder. */
  | { readonly kind: 'command'; readonly text: string; readonly words: readonly string[] };

/** What a word of a command can stand for: what only a look at the platform shows. */
export const placeholderNames = ['failed', 'slowest', 'deploy', 'flag', 'blocker', 'largest'] as const;

export type PlaceholderName = (typeof placeholderNames)[number];

export interface Placeholder {
  readonly name: PlaceholderName;
  /** `orders` of `@blocker:orders`. */
  readonly of: string | undefined;
  /** What comes before it: `trace:` of `trace:@failed`. */
  readonly prefix: string;
}

/** Throws RangeError for a line that is none. Pure. */
export function parseReferenceLine(text: string): ReferenceLine {
  const words = wordsOf(text);
  const [first, time] = words;
  if (first === undefined) throw new RangeError('the line is empty');
  if (first === 'wait') {
    const ms = durationMs(time ?? '');
    if (words.length === 2 && time === 'page') return { kind: 'wait-page', text };
    if (words.length === 2 && time === 'symptom') return { kind: 'wait-symptom', text };
    if (words.length === 3 && time === 'page') return { kind: 'wait-page', text, alert: words[2] as string };
    if (words.length === 2 && ms !== undefined) return { kind: 'wait', text, ms };
    throw new RangeError(`expected "wait page", "wait page NAME", "wait symptom" or "wait 10s", got "${text}"`);
  }
  for (const word of words) placeholderIn(word);
  return { kind: 'command', text, words };
}

/** The placeholder of a word, where it has one. Throws RangeError for an unknown one. Pure. */
export function placeholderIn(word: string): Placeholder | undefined {
  const [, prefix = '', name, of] = /^([a-z]+:)?@([a-z]+)(?::(.+))?$/.exec(word) ?? [];
  if (name === undefined) return undefined;
  if (isPlaceholderName(name)) return { name, of, prefix };
  throw new RangeError(`unknown placeholder "@${name}": one of ${placeholderNames.map((one) => `@${one}`).join(', ')}`);
}

function isPlaceholderName(name: string): name is PlaceholderName {
  return (placeholderNames as readonly string[]).includes(name);
}

/** Words as a shell has them, with double quotes alone. Throws RangeError for a quote that does not end. */
function wordsOf(text: string): readonly string[] {
  if (text.split('"').length % 2 === 0) throw new RangeError(`a quote does not end: ${text}`);
  return [...text.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, quoted]) => quoted ?? word);
}
