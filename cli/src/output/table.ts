import { padText, widthOf } from './width.ts';

/** Rows in columns as wide as their widest cell, two spaces between; colours in cells do not count. No trailing space. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = header.length > 0 ? [header, ...rows] : rows;
  const columnCount = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: columnCount }, (_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? ''))),
  );
  return all.map((row) => formatRow(row, widths)).join('\n');
}

function formatRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => padText(cell, widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}
