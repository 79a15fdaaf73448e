import { stripVTControlCharacters } from 'node:util';

/** Text that is HTML already: made by `html` only, so that everything else is escaped. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What stands in a page: text is escaped. */
export type Content = Markup | string | number | undefined | readonly Content[];

/** HTML with its values escaped, for elements' content and quoted attributes alike. Arrays are joined, undefined is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Content[]): Markup {
  return new Markup(strings.reduce((text, string, index) => text + markupOf(parts[index - 1]) + string));
}

function markupOf(part: Content): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(markupOf).join('');
  return escapeHtml(String(part));
}

/** Control characters have no place in a page: the parser would replace or drop them. */
export function escapeHtml(text: string): string {
  return stripVTControlCharacters(text)
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\x7E\xA0-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** JSON for a data block: no `<`, so that nothing in it can end the block. */
export function jsonBlock(value: unknown): Markup {
  return new Markup(JSON.stringify(value).replaceAll('<', '\\u003c'));
}
