import { html, type Markup } from '../experiments/report/html.ts';
import type { PageAssets } from '../experiments/report/page-assets.ts';
import type { PageData } from '../experiments/report/page-data.ts';
import { auditSection } from '../experiments/report/sections/audit.ts';
import { chartStack } from '../experiments/report/sections/timeline.ts';
import { standalonePage } from '../experiments/report/standalone-page.ts';
import { clockText, countText, durationText, toneOf, verdictWord } from '../experiments/report/words.ts';
import { countChecks } from '../output/check.ts';
import type { LoadCheck } from './checks.ts';
import type { RunFault } from './fault-window.ts';
import type { Measured } from './measured.ts';
import type { LoadResult } from './result.ts';
import { countsText, parametersText, shareText } from './words.ts';

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
  const reasons = [
    ...wrong.map(({ name, evidence }) => `${name}: ${evidence}`),
    ...notReverted.map((what) => `not reverted: ${what}`),
    ...notChecked.map((what) => `not checked: ${what}`),
    ...gaps.map((what) => `could not be read for a while: ${what}`),
  ];
  return html`<header>
  <p class="muted">load</p>
  <h1>${scenario}</h1>
  <div class="verdict ${toneOf(verdict)}">
    <p><strong class="word">${verdict}</strong> · ${countChecks(checks)}</p>
    ${reasons.length === 0 ? undefined : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
    <p class="muted">took ${durationText(tookMs)} · exit code ${exitCode}</p>
  </div>
</header>`;
}

/** The marks only; lines and bars count every response. */
function thinnedNote({ orders }: LoadResult, { orders: { placedMs } }: PageData): Markup | undefined {
  if (placedMs.length >= orders.sent) return undefined;
  return html`<p class="muted">${countText(placedMs.length)} of ${countText(orders.sent)} responses have a mark; lines and bars count all of them.</p>`;
}

const NUMBERS = ['offered/s', 'sent', 'responses/s', 'as expected', 'p50', 'p95', 'p99', 'max', 'not sent'];

function phaseTable({ phases, orders, sagas }: LoadResult): Markup {
  const rows = phases.map((phase) =>
    phaseRow(phase.name, [phase.offeredPerSecond ?? '–', ...numbersOf(phase), countText(phase.missing)]),
  );
  const all = phases.length > 1 ? phaseRow('all', ['–', ...numbersOf(orders), '–']) : undefined;
  return html`<div class="scroll"><table class="stacks">
  <caption>Requests and their responses</caption>
  <thead><tr><th scope="col">phase</th>${NUMBERS.map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
  <tbody>${rows}${all}</tbody>
</table></div>
${counts('Responses', orders.outcomes)}${counts('Errors', orders.errors)}${sagas === null ? undefined : counts('Sagas at the end', sagas)}`;
}

/** `values` in the order of `NUMBERS`. */
function phaseRow(name: string, values: readonly (string | number)[]): Markup {
  const cells = values.map((value, index) => html`<td class="number" data-column="${NUMBERS[index]}">${value}</td>`);
  return html`<tr><th scope="row">${name}</th>${cells}</tr>`;
}

function numbersOf(measured: Measured): readonly (string | number)[] {
  const { sent, perSecond, latencyMs } = measured;
  const times = [latencyMs.p50, latencyMs.p95, latencyMs.p99, latencyMs.max].map((ms) => durationText(ms ?? undefined));
  return [countText(sent), perSecond, shareText(measured) ?? '–', ...times];
}

function counts(name: string, all: Readonly<Record<string, number>>): Markup | undefined {
  const list = countsText(all);
  return list === '' ? undefined : html`<p>${name}: ${list}</p>`;
}

function faultTable({ faults, startedAt }: LoadResult): Markup {
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  const clock = (iso: string | null) => clockText(iso === null ? undefined : Date.parse(iso) - Date.parse(startedAt));
  const row = ({ fault, target, parameters, from, to, evidence }: RunFault) => html`<tr>
  <th scope="row">${fault}</th><td data-column="target">${target}</td>
  <td data-column="parameters">${parametersText(parameters) || '–'}</td>
  <td data-column="from">${clock(from)}</td><td data-column="to">${clock(to)}</td><td data-column="evidence">${evidence}</td></tr>`;
  return html`<div class="scroll"><table class="stacks">
  <caption>Faults, by the time since the first order</caption>
  <thead><tr>${['fault', 'target', 'parameters', 'from', 'to', 'evidence'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
  <tbody>${faults.map(row)}</tbody>
</table></div>`;
}

function checksSection({ checks }: LoadResult): Markup {
  const row = ({
    group,
    name,
    verdict,
    evidence,
  }: LoadCheck) => html`<tr><td data-column="verdict">${verdictWord(verdict)}</td>
<td data-column="group">${group}</td><th scope="row">${name}</th><td data-column="evidence">${evidence}</td></tr>`;
  return html`<section aria-labelledby="checks">
  <h2 id="checks">Checks and their evidence</h2>
  <div class="scroll"><table class="stacks">
  <thead><tr><th scope="col">verdict</th><th scope="col">group</th><th scope="col">check</th><th scope="col">evidence</th></tr></thead>
  <tbody>${checks.map(row)}</tbody>
</table></div>
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
      `peak ${outbox.peak === null ? 'unknown' : `${countText(outbox.peak)} events`}, drained ${outbox.drainMs === null ? 'not at all' : `in ${durationText(outbox.drainMs)}`}`,
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
  <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
  ${k6Page === undefined ? html`<p>k6 wrote no report: the run was too short, or was ended early.</p>` : html`<p><a href="${k6Page}">k6's own report</a> has its metrics over time.</p>`}
</section>`;
}
