import { type ExpectedSpan, expectedTree, type TraceContract } from './contract.ts';

/** A contract as the Markdown table of docs/traces.md: one numbered span a row, parents by number. */
export function contractTable(contract: TraceContract): string {
  const rows: string[] = [];
  function add(span: ExpectedSpan, parent: number | undefined): void {
    const number = rows.length + 1;
    const remarks = [
      span.database === undefined ? '' : `SQL on ${span.database}`,
      span.error ? 'in error' : '',
      span.mayBeLost ? 'may be lost' : '',
    ].filter((remark) => remark !== '');
    const cells = [number, span.service, `\`${span.name}\``, parent ?? '-', span.kind, remarks.join(', ')];
    rows.push(`| ${cells.join(' | ')} |`.replace(/ {2}\|$/, ' |'));
    for (const child of span.children) add(child, number);
  }
  add(expectedTree(contract), undefined);
  return ['| # | service | span | parent | kind | remarks |', '|---|---|---|---|---|---|', ...rows].join('\n');
}
