import type { JunitCase, JunitSuite } from '../../output/junit.ts';
import { html } from '../../report/html.ts';
import { standalonePage } from '../../report/standalone-page.ts';
import type { CellVerdict } from './check-round.ts';
import { type Plan, type Row, rowName } from './plan.ts';
import { countOf, type Repetition, renderFinding } from './render.ts';
import type { Cell, MatrixResult } from './run-matrix.ts';

/** One testcase for each cell. Those there was no time for are a property of the suite, for they were not tested. */
export function suiteOfMatrix(
  { cells }: MatrixResult,
  { seed, seededBugs }: Repetition,
  times: { readonly startedAt: Date; readonly tookMs: number },
): JunitSuite {
  const covered = cells.flatMap(({ verdict, ...cell }) =>
    verdict === 'not covered' ? [] : [caseOf({ ...cell, verdict })],
  );
  const properties = {
    seed: String(seed),
    seededBugs: seededBugs.join(' '),
    notCovered: String(countOf(cells, 'not covered')),
  };
  return { name: 'chaos matrix', ...times, properties, classname: 'matrix', cases: covered };
}

function caseOf({ row, boundary, verdict, reason }: Cell & CellVerdict): JunitCase {
  return {
    group: row.fault.name,
    name: `${rowName(row)} at ${boundary.name}`,
    verdict,
    evidence: reason || 'everything ended as it must',
  };
}

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .2rem .45rem; border: 1px solid #8886; text-align: center; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 500; }
.pass { background: #2e9e4e33; } .fail, .dirty { background: #d3333355; font-weight: 700; }
.unknown, .interrupted { background: #d9a40055; }
pre { white-space: pre-wrap; }
`;

/** One page that asks nothing of the network: what failed, and the table with the reason of each cell as its title. */
export function renderMatrixHtml({ boundaries }: Plan, result: MatrixResult, repetition: Repetition): string {
  const { cells, findings, runs } = result;
  const rows = [...Map.groupBy(cells, ({ row }) => rowName(row)).values()];
  const body = html`<h1>Every fault at every boundary</h1>
<p>seed ${repetition.seed}${repetition.seededBugs.length > 0 ? `, seeded bugs: ${repetition.seededBugs.join(', ')}` : ''}; ${runs} runs; ${cells.length} cells: ${summaryOf(cells)}</p>
${findings.map((finding) => html`<pre>${renderFinding(finding, repetition)}</pre>`)}
<div><table><thead><tr><th scope="col">fault and target</th>${boundaries.map(({ name, path }) => html`<th scope="col" title="${path}">${name.replace('.', ' ')}</th>`)}</tr></thead>
<tbody>${rows.map(
    (own) =>
      html`<tr><th scope="row">${rowName((own[0] as Cell).row)}</th>${boundaries.map((boundary) => {
        const cell = own.find((one) => one.boundary === boundary);
        if (cell === undefined) return html`<td></td>`;
        return html`<td class="${cell.verdict}" title="${cell.reason}">${cell.verdict}</td>`;
      })}</tr>`,
  )}</tbody></table></div>`;
  return standalonePage({ title: `Chaos matrix: ${summaryOf(cells)}`, style: STYLE, body });
}

/** `38 pass, 2 unknown` */
export function summaryOf(cells: readonly Cell[]): string {
  const groups = [...Map.groupBy(cells, ({ verdict }) => verdict)];
  return groups.map(([verdict, own]) => `${own.length} ${verdict}`).join(', ');
}

/** A row as `--json` shows it. */
export function rowAsJson({ fault, target, parameters }: Row) {
  return { fault: fault.name, target, parameters };
}
