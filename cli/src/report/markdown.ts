import { stripVTControlCharacters } from 'node:util';

/** Longer texts are for the HTML report. */
const CELL = 200;

/** A table, or nothing without rows. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map((row) => line(row.map(inlineMarkdown)))].join('\n');
}

/** Text in one line, in which nothing is markup: neither Markdown's nor HTML's. */
export function inlineMarkdown(text: string): string {
  const line = stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();
  const short = line.length > CELL ? `${line.slice(0, CELL)}…` : line;
  return short.toWellFormed().replace(/[\\`*_{}[\]<>#|~&!$]/g, '\\$&');
}
