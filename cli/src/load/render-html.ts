import { countChecks } from '../output/check.ts';
import { formatCount } from '../output/units.ts';
import { auditSection } from '../report/audit-section.ts';
import { chartStack } from '../report/chart-stack.ts';
import { html, type Markup } from '../report/html.ts';
import type { PageAssets } from '../report/page-assets.ts';
import type { PageData } from '../report/page-data.ts';
import { factList, stackedTable, verdictHeader } from '../report/parts.ts';
import { standalonePage } from '../report/standalone-page.ts';
import { clockText, durationText, pairsText, verdictWord } from '../report/words.ts';
import type { Measured } from './measured.ts';
import type { LoadResult } from './result.ts';
import { countsText, shareText } from './words.ts';

export interface LoadPage {
  /** Script and stylesheet, which all reports share. */
  readonly assets: PageAssets;
  readonly timeline: PageData;
  /** Name of k6's own report beside this page; undefined: k6 wrote none. */
  readonly k6Page: string | undefined;
}

/** A run as one page that asks nothing of the network: verdict, everything over time with the faults, numbers, checks, audit. */
export function renderLoadPage(result: LoadResult, { assets, timeline, k6Page }: LoadPage): string {
  const body = html`${header(result)}
<section aria-labelledby="timeline">
  <h2 id="timeline">Timeline</h2>
  ${chartStack(timeline, { waiting: 'sagas that have not ended' })}
  ${thinnedNote(result, timeline)}
  ${phaseTable(result)}
  ${faultTable(result)}
</section>
${checksSection(result)}
${auditSection(result.audit ?? undefined)}
${runSection(result, k6Page)}`;
  return standalonePage({ title: `Load ${result.scenario}: ${result.verdict}`, ...assets, body });
}

function header({ scenario, verdict, exitCode, tookMs, checks, notReverted, notChecked, gaps }: LoadResult): Markup {
  const wrong = checks.filter(({ verdict }) => verdict !== 'pass');
  return verdictHeader({
    kind: 'load',
    title: scenario,
    verdict,
    summary: countChecks(checks),
    reasons: [
      ...wrong.map(({ name, evidence }) => `${name}: ${evidence}`),
      ...notReverted.map((what) => `not reverted: ${what}`),
      ...notChecked.map((what) => `not checked: ${what}`),
      ...gaps.map((what) => `could not be read for a while: ${what}`),
    ],
    footer: `took ${durationText(tookMs)} · exit code ${exitCode}`,
  });
}

/** The marks only; lines and bars count every response. */
function thinnedNote({ orders }: LoadResult, { orders: { placedMs } }: PageData): Markup | undefined {
  if (placedMs.length >= orders.sent) return undefined;
  return html`<p class="muted">${formatCount(placedMs.length)} of ${formatCount(orders.sent)} responses have a mark; lines and bars count all of them.</p>`;
}

const NUMBERS = ['offered/s', 'sent', 'responses/s', 'as expected', 'p50', 'p95', 'p99', 'max', 'not sent'];

function phaseTable({ phases, orders, sagas }: LoadResult): Markup {
  const rows = phases.map((phase) => [
    phase.name,
    phase.offeredPerSecond ?? '–',
    ...numbersOf(phase),
    formatCount(phase.missing),
  ]);
  const table = stackedTable({
    caption: 'Requests and their responses',
    columns: ['phase', ...NUMBERS],
    header: 'phase',
    numbers: NUMBERS,
    rows: phases.length > 1 ? [...rows, ['all', '–', ...numbersOf(orders), '–']] : rows,
  });
  return html`${table}
${counts('Responses', orders.outcomes)}${counts('Errors', orders.errors)}${sagas === null ? undefined : counts('Sagas at the end', sagas)}`;
}

function numbersOf(measured: Measured): readonly (string | number)[] {
  const { sent, perSecond, latencyMs } = measured;
  const times = [latencyMs.p50, latencyMs.p95, latencyMs.p99, latencyMs.max].map((ms) => durationText(ms ?? undefined));
  return [formatCount(sent), perSecond, shareText(measured) ?? '–', ...times];
}

function counts(name: string, all: Readonly<Record<string, number>>): Markup | undefined {
  const list = countsText(all);
  return list === '' ? undefined : html`<p>${name}: ${list}</p>`;
}

function faultTable({ faults, startedAt }: LoadResult): Markup {
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  const clock = (iso: string | null) => clockText(iso === null ? undefined : Date.parse(iso) - Date.parse(startedAt));
  return stackedTable({
    caption: 'Faults, by the time since the first order',
    columns: ['fault', 'target', 'parameters', 'from', 'to', 'evidence'],
    header: 'fault',
    rows: faults.map(({ fault, target, parameters, from, to, evidence }) => [
      fault,
      target,
      pairsText(parameters) || '–',
      clock(from),
      clock(to),
      evidence,
    ]),
  });
}

function checksSection({ checks }: LoadResult): Markup {
  const table = stackedTable({
    columns: ['verdict', 'group', 'check', 'evidence'],
    header: 'check',
    rows: checks.map(({ group, name, verdict, evidence }) => [verdictWord(verdict), group, name, evidence]),
  });
  return html`<section aria-labelledby="checks">
  <h2 id="checks">Checks and their evidence</h2>
  ${table}
</section>`;
}

function runSection(
  { runId, settings, startedAt, outbox, usage, knee }: LoadResult,
  k6Page: string | undefined,
): Markup {
  const { rate, vus, durationS, seed } = settings;
  const facts: readonly (readonly [string, string])[] = [
    ['run', runId],
    ['started', startedAt],
    ['load', `${rate === null ? `${vus} users` : `${rate} orders/s`} for ${durationS} s, seed ${seed}`],
    [
      'outbox',
      `peak ${outbox.peak === null ? 'unknown' : `${formatCount(outbox.peak)} events`}, drained ${outbox.drainMs === null ? 'not at all' : `in ${durationText(outbox.drainMs)}`}`,
    ],
    ...(knee === null
      ? []
      : [
          [
            'knee',
            knee.sustainedPerSecond === null ? 'below the first step' : `${knee.sustainedPerSecond} orders/s`,
          ] as const,
        ]),
    ...(usage === null
      ? []
      : [
          [
            'machine',
            `${usage.machine.cores} cores, ${usage.machine.averagePercent} % busy, others used ${usage.machine.othersPercent} % of one`,
          ] as const,
        ]),
  ];
  return html`<section aria-labelledby="run">
  <h2 id="run">The run</h2>
  ${factList(facts)}
  ${k6Page === undefined ? html`<p>k6 wrote no report: the run was too short, or was ended early.</p>` : html`<p><a href="${k6Page}">k6's own report</a> has its metrics over time.</p>`}
</section>`;
}
