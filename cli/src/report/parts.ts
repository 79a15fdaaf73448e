import { type Content, html, type Markup } from './html.ts';
import { toneOf } from './words.ts';

export interface VerdictHeader {
  /** Above the title. */
  readonly kind: string;
  readonly title: string;
  readonly verdict: string;
  /** The verdict as it is written; absent: as it is. */
  readonly word?: string;
  readonly summary: string;
  readonly reasons: readonly string[];
  readonly footer: string;
}

/** Title and verdict with its reasons: what a reader came for. */
export function verdictHeader(header: VerdictHeader): Markup {
  const { kind, title, verdict, word = verdict, summary, reasons, footer } = header;
  return html`<header>
  <p class="muted">${kind}</p>
  <h1>${title}</h1>
  <div class="verdict ${toneOf(verdict)}">
    <p><strong class="word">${word}</strong> · ${summary}</p>
    ${reasons.length === 0 ? undefined : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
    <p class="muted">${footer}</p>
  </div>
</header>`;
}

/** Names with their values. */
export function factList(facts: readonly (readonly [name: string, value: string])[]): Markup {
  return html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

export interface StackedTable {
  readonly caption?: string;
  readonly columns: readonly string[];
  /** The column whose cells name their rows. */
  readonly header: string;
  /** The columns of numbers; absent: none. */
  readonly numbers?: readonly string[];
  /** Cells in the order of `columns`. */
  readonly rows: readonly (readonly Content[])[];
}

/** A table whose rows are lists on a phone, so that each cell has the name of its column. */
export function stackedTable({ caption, columns, header, numbers = [], rows }: StackedTable): Markup {
  const classOf = (name: string) => (numbers.includes(name) ? html` class="number"` : undefined);
  const cellOf = (cell: Content, name: string) =>
    name === header ? html`<th scope="row">${cell}</th>` : html`<td${classOf(name)} data-column="${name}">${cell}</td>`;
  return html`<div class="scroll"><table class="stacks">
  ${caption === undefined ? undefined : html`<caption>${caption}</caption>`}
  <thead><tr>${columns.map((name) => html`<th scope="col"${classOf(name)}>${name}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr>${columns.map((name, index) => cellOf(row[index], name))}</tr>`)}</tbody>
</table></div>`;
}
