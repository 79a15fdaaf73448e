import { paintVerdict } from '../../output/check.ts';
import type { JunitSuite } from '../../output/junit.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { html } from '../../report/html.ts';
import { standalonePage } from '../../report/standalone-page.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { SilentReport, SituationResult } from './evaluate.ts';

/** A row for each situation, the reasons below, and what that makes. */
export function renderSilent(report: SilentReport, style: Style): string {
  const { situations, open, start, pages, measuredMs, verdict } = report;
  const rows = situations.map((one) => [
    paintVerdict(one.verdict, style),
    one.name,
    formatDuration(one.tookMs),
    String(one.orders),
    String(one.pages.length),
    hitWord(one),
    one.others.join(', '),
  ]);
  const reasons = situations.flatMap(({ name, reasons: own }) =>
    own.length > 0 ? [`${name}: ${own.join('; ')}`] : [],
  );
  return [
    formatTable(['', 'SITUATION', 'TOOK', 'ORDERS', 'PAGES', 'CUSTOMERS', 'OTHER ALERTS'], rows),
    ...(reasons.length > 0 ? [reasons.join('\n')] : []),
    [
      ...(open.length > 0
        ? [`not measured: ${open.join(', ')}`, `"shopctl alerts silent --resume ${start.runId}" goes on`]
        : []),
      ...start.leftOut.map((name) => style.dim(`left out: ${name}, which needs --knee`)),
      `${paintVerdict(verdict, style)}: ${pages} pages in ${formatDuration(measuredMs)}, ${situations.length} situations`,
    ].join('\n'),
  ].join('\n\n');
}

/** As `--json` has it. Pure. */
export function silentAsJson({ start, situations, open, pages, measuredMs, verdict, tookMs }: SilentReport) {
  return {
    runId: start.runId,
    verdict,
    pages,
    measuredMs,
    scale: start.scale,
    situations: situations.map((one) => ({ ...one, isHit: one.isHit ?? null })),
    open,
    leftOut: start.leftOut,
    tookMs,
  };
}

/** Pure. */
export function suiteOfSilent({ start, situations, open, tookMs }: SilentReport): JunitSuite {
  return {
    name: 'alerts silent',
    startedAt: new Date(start.startedAt),
    tookMs,
    properties: {
      runId: start.runId,
      seed: String(start.seed),
      scale: String(start.scale),
      notMeasured: open.join(' '),
    },
    classname: 'alerts',
    cases: situations.map(({ name, verdict, reasons, evidence }) => {
      return { group: 'silent', name, verdict, evidence: reasons.join('; ') || evidence };
    }),
  };
}

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { padding: .2rem .45rem; border: 1px solid #8886; text-align: left; }
.pass { background: #2e9e4e33; } .fail { background: #d3333355; } .unknown { background: #d9a40055; }
`;

/** One page that asks nothing of the network. Pure. */
export function renderSilentHtml({ start, situations, open, pages, measuredMs, verdict }: SilentReport): string {
  const body = html`<h1>Situations without a page</h1>
<p>${start.runId}, ${start.startedAt}; ${pages} pages in ${formatDuration(measuredMs)}, seed ${start.seed}, scale ${start.scale}</p>
<table><thead><tr><th scope="col">situation</th><th scope="col">verdict</th><th scope="col">took</th><th scope="col">orders</th><th scope="col">pages</th><th scope="col">customers</th><th scope="col">what was seen</th></tr></thead>
<tbody>${situations.map(
    (one) =>
      html`<tr><th scope="row">${one.name}</th><td class="${one.verdict}">${one.verdict}</td><td>${formatDuration(one.tookMs)}</td><td>${one.orders}</td><td>${one.pages.length}</td><td>${hitWord(one)}</td><td>${[...one.reasons, ...one.others, one.evidence].join('; ')}</td></tr>`,
  )}</tbody></table>
${open.length > 0 ? html`<p>Not measured: ${open.join(', ')}</p>` : undefined}`;
  return standalonePage({ title: `Alerts that must not fire: ${verdict}`, style: STYLE, body });
}

function hitWord({ isHit }: SituationResult): string {
  return isHit === undefined ? 'unknown' : isHit ? 'hit' : 'none';
}
