/** A block of prose (paragraph, heading, list item, table cell) without code, links' targets and quotations. */
export interface Block {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
  readonly isTable: boolean;
}

export interface Sentence {
  readonly line: number;
  readonly text: string;
  readonly words: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Ends of segments that are no ends of sentences. */
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx|No)\.$/;

/** Code and quotations keep their place as one word; they are not ours to rewrite. */
function withoutQuotations(text: string): string {
  return text
    .replaceAll(/<!--.*?-->/g, ' ')
    .replaceAll(/(`+)(?:(?!\1).)+\1/g, 'CODE')
    .replaceAll(/"[^"]*"/g, 'QUOTATION')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/\w+:\/\/\S+/g, 'URL')
    .replaceAll(/[[\]*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Generated text is checked where it is written: between `<!-- name -->` and `<!-- /name -->`. */
function blank(markdown: string): string {
  const lines = (text: string) => text.replaceAll(/[^\n]/g, '');
  return markdown
    .replaceAll(/^ *<!-- ([\w:]+).*?-->$[\s\S]*?^ *<!-- \/\1 -->$/gm, lines)
    .replaceAll(/^( *)(```+|~~~+)[\s\S]*?^ *\2.*$/gm, lines)
    .replaceAll(/<!--[\s\S]*?-->/g, lines);
}

/** Splits Markdown into its blocks; code fences, generated blocks, comments and `>` quotations are left out. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: string[] = [];
  let first = 0;
  const close = () => {
    const text = withoutQuotations(open.join(' '));
    if (text !== '') blocks.push({ line: first, text, isTable: false });
    open = [];
  };
  for (const [index, line] of blank(markdown).split('\n').entries()) {
    const text = line.trim();
    const isTable = text.startsWith('|');
    const isHeading = /^#+ /.test(text);
    if (text === '' || isTable || isHeading || /^(?:[-*>]|\d+\.) /.test(text)) close();
    if (text === '' || text.startsWith('>')) continue;
    if (isTable) {
      const cells = withoutQuotations(text).split('|');
      blocks.push(...cells.map((cell) => ({ line: index + 1, text: cell.trim(), isTable })));
      continue;
    }
    if (open.length === 0) first = index + 1;
    open.push(text.replace(/^(?:[-*]|\d+\.|#+) /, ''));
    if (isHeading) close();
  }
  close();
  return blocks.filter(({ text }) => /\w/.test(text));
}

/** The sentences of the blocks outside tables, with their numbers of words. */
export function sentencesOf(markdown: string): readonly Sentence[] {
  return blocksOf(markdown)
    .filter(({ isTable }) => !isTable)
    .flatMap(({ line, text }) => splitBlock(text).map((one) => ({ line, text: one, words: countWords(one) })));
}

function splitBlock(text: string): readonly string[] {
  const sentences: string[] = [];
  let begun = '';
  for (const { segment } of segmenter.segment(text)) {
    begun += segment;
    if (ABBREVIATION.test(begun.trim())) continue;
    sentences.push(begun.trim());
    begun = '';
  }
  return begun === '' ? sentences : [...sentences, begun.trim()];
}

/** Signs without a letter or digit (`=`, `+`, `-`) are no words. */
function countWords(sentence: string): number {
  return sentence.split(' ').filter((token) => /[\p{L}\p{N}]/u.test(token)).length;
}

/**
 * The comments of TypeScript sources, as text whose blocks {@link blocksOf} finds. Consecutive lines of `//` are one comment.
 * A comment begins after white space only, so that a URL or a pattern of paths is none.
 */
export function commentsOf(source: string): readonly string[] {
  return [...source.matchAll(/(?<=^|\s)(?:\/\*[\s\S]*?\*\/|\/\/ .*(?:\n[ \t]*\/\/ .*)*)/gm)].map(([comment]) =>
    comment.replaceAll(/^[ \t]*(?:\/\*+|\*(?!\/)|\/\/) ?| ?\*\/$/gm, '').trim(),
  );
}

/** The titles of tests that a source writes out. */
export function titlesOf(source: string): readonly string[] {
  const calls = /\b(?:it|describe|test)(?:\.\w+)*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;
  return [...source.matchAll(calls)].map(([, , title = '']) => title);
}

/** What a `/` after it begins: a pattern, and not a division. */
const BEFORE_PATTERN = /(?:^|[=(,:[!&|?{};]|=>|\breturn)\s*$/;

/**
 * The texts of string literals and templates of TypeScript sources, with `CODE` where a template inserts a value. Those of one
 * word are names and not prose, and are left out.
 */
export function literalsOf(source: string): readonly string[] {
  return scan(source).literals;
}

/** The names in the code of TypeScript sources, as words: `deadLetterQueue` is "dead letter queue". */
export function namesOf(source: string): readonly string[] {
  const names = new Set(scan(source).code.match(/[A-Za-z_$][\w$]*/g));
  return [...names].map(wordsOf);
}

/** `deadLetterQueue`, `DEAD_LETTER_QUEUE` and `dead-letter-queue.ts` as words. */
export function wordsOf(name: string): string {
  return name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** The texts of literals, and the code without them, comments and patterns. */
function scan(source: string): { readonly literals: readonly string[]; readonly code: string } {
  const literals: string[] = [];
  let code = '';
  /** Reads on until `end` on its own level, and returns the place behind it. */
  const readCode = (from: number, end: string): number => {
    let at = from;
    for (let open = 0; at < source.length; ) {
      const sign = source[at] as string;
      if (sign === end && open === 0) return at + 1;
      if (sign === '{') open++;
      if (sign === '}') open--;
      at = readToken(at, sign);
    }
    return at;
  };
  const readToken = (at: number, sign: string): number => {
    const two = source.slice(at, at + 2);
    if (two === '//') return endOf('\n', at);
    if (two === '/*') return endOf('*/', at);
    if (sign === '/' && BEFORE_PATTERN.test(source.slice(Math.max(0, at - 40), at))) return readPattern(at);
    if (sign === "'" || sign === '"' || sign === '`') return readLiteral(at + 1, sign);
    code += sign;
    return at + 1;
  };
  const endOf = (end: string, at: number) => {
    const found = source.indexOf(end, at);
    return found < 0 ? source.length : found + end.length;
  };
  const readPattern = (from: number): number => {
    const [pattern = '/'] = /^\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/\w*/.exec(source.slice(from)) ?? [];
    return from + pattern.length;
  };
  const readLiteral = (from: number, quote: string): number => {
    let text = '';
    let at = from;
    code += ' ';
    while (at < source.length && source[at] !== quote) {
      if (quote === '`' && source.startsWith('${', at)) {
        text += ' CODE ';
        at = readCode(at + 2, '}');
        continue;
      }
      const isEscaped = source[at] === '\\';
      text += isEscaped ? ' ' : source[at];
      at += isEscaped ? 2 : 1;
    }
    if (/\S\s+\S/.test(text)) literals.push(text.trim());
    return at + 1;
  };
  readCode(0, '');
  return { literals, code };
}
