import type { JunitCase, JunitSuite } from '../output/junit.ts';
import { html } from '../report/html.ts';
import { standalonePage } from '../report/standalone-page.ts';
import type { MatrixReport } from './evaluate.ts';
import { writeSeconds } from './goals.ts';
import type { Times } from './metrics.ts';
import { pairName } from './pair.ts';
import { cellText, shownAlerts } from './render.ts';
import type { PairResult } from './result.ts';

/** As `--json` has it; a time that did not come is null. Pure. */
export function reportAsJson({ start, pairs, open, metrics, goals, verdict, tookMs }: MatrixReport) {
  return {
    runId: start.runId,
    verdict,
    goals,
    metrics: {
      ...metrics,
      recall: metrics.recall ?? null,
      precision: metrics.precision ?? null,
      unknownShare: metrics.unknownShare ?? null,
      detection: timesAsJson(metrics.detection),
      outageDetection: timesAsJson(metrics.outageDetection),
      clear: timesAsJson(metrics.clear),
      slowClear: timesAsJson(metrics.slowClear),
    },
    pairs: pairs.map(({ pair, clears, ...rest }) => ({
      ...rest,
      group: rest.group ?? null,
      isHit: rest.isHit ?? null,
      fault: pair.fault,
      target: pair.target,
      parameters: pair.parameters,
      clears: clears.map((clear) => ({ ...clear, afterS: finite(clear.afterS) })),
    })),
    open: open.map(pairName),
    leftOut: start.leftOut,
    tookMs,
  };
}

function timesAsJson({ count, p50, p95, max }: Times) {
  return { count, p50: finite(p50), p95: finite(p95), max: finite(max) };
}

function finite(seconds: number | undefined): number | null {
  return seconds === undefined || !Number.isFinite(seconds) ? null : seconds;
}

/** A testcase for each pair, and one for each goal. Pure. */
export function suiteOfReport({ start, pairs, goals, open, tookMs }: MatrixReport): JunitSuite {
  return {
    name: 'alerts matrix',
    startedAt: new Date(start.startedAt),
    tookMs,
    properties: { runId: start.runId, seed: String(start.seed), notMeasured: String(open.length) },
    classname: 'alerts',
    cases: [
      ...pairs.map(caseOf),
      ...goals.map(
        ({ name, wanted, observed, verdict }): JunitCase => ({
          group: 'goals',
          name,
          verdict,
          evidence: `${observed}, wanted ${wanted}`,
        }),
      ),
    ],
  };
}

function caseOf({ pair, name, verdict, reasons, evidence, cells }: PairResult): JunitCase {
  const fired = cells.flatMap(({ alertname, firedS }) =>
    firedS === undefined ? [] : [`${alertname} ${writeSeconds(firedS)}`],
  );
  const seen = `${evidence}; fired: ${fired.join(', ') || 'none'}`;
  return {
    group: pair.fault,
    name,
    verdict,
    evidence: verdict === 'pass' ? seen : reasons.join('; '),
    details: [...reasons, seen].join('\n'),
  };
}

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .45rem; border: 1px solid #8886; text-align: center; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 500; }
thead th { vertical-align: bottom; }
.upright { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; }
.hit, .pass { background: #2e9e4e33; } .missed, .false, .fail, .dirty { background: #d3333355; font-weight: 700; }
.unknown { background: #d9a40055; }
td.text { text-align: left; white-space: normal; min-width: 24rem; }
`;

/** One page that asks nothing of the network. Pure. */
export function renderHtml(report: MatrixReport): string {
  const { start, pairs, goals, open, metrics, verdict } = report;
  const alerts = shownAlerts(report);
  const body = html`<h1>Alerts under every fault</h1>
<p>${start.runId}, ${start.startedAt}; ${metrics.measured} of ${metrics.planned} pairs, ${start.rate} orders a second, seed ${start.seed}</p>
<table><thead><tr><th scope="col">goal</th><th scope="col">wanted</th><th scope="col">observed</th><th scope="col">verdict</th></tr></thead>
<tbody>${goals.map((goal) => html`<tr><th scope="row">${goal.name}</th><td>${goal.wanted}</td><td>${goal.observed}</td><td class="${goal.verdict}">${goal.verdict}</td></tr>`)}</tbody></table>
<p>✓ fired after so many seconds; · rightly silent; ✗ missed; ! false; ? unknown. Customers: by the load’s own record.</p>
<div><table><thead><tr><th scope="col">fault and target</th><th scope="col">verdict</th><th scope="col">customers</th>${alerts.map(({ alertname, severity }) => html`<th scope="col" title="${severity}"><span class="upright">${alertname}</span></th>`)}<th scope="col">what was seen</th></tr></thead>
<tbody>${pairs.map(
    (pair) =>
      html`<tr><th scope="row" title="${pair.group ?? 'no group'}">${pair.name}</th><td class="${pair.verdict}">${pair.verdict}</td><td>${hitWord(pair)}</td>${alerts.map(
        ({ alertname }) => {
          const cell = pair.cells.find((one) => one.alertname === alertname);
          if (cell === undefined) return html`<td></td>`;
          return html`<td class="${cell.verdict}" title="${alertname}: ${cell.expectation}">${cellText(cell)}</td>`;
        },
      )}<td class="text">${[...pair.reasons, pair.evidence].join('; ')}</td></tr>`,
  )}</tbody></table></div>
${open.length > 0 ? html`<p>Not measured: ${open.map(pairName).join(', ')}</p>` : undefined}`;
  return standalonePage({ title: `Alerts matrix: ${verdict}`, style: STYLE, body });
}

function hitWord({ isHit }: PairResult): string {
  return isHit === undefined ? 'unknown' : isHit ? 'hit' : 'none';
}
