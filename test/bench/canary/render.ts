import type { Table } from './table.ts';

const BEGIN = '<!-- canary: npm run bench:canary -- --write -->';
const END = '<!-- /canary -->';

export function renderTable({ title, note, header, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [`## ${title}`, '', note, '', line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The page with its tables replaced. Throws where it has no place for them. */
export function replaceTables(page: string, text: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page has no ${BEGIN} before ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`;
}
