import { html, type Markup } from '../experiments/report/html.ts';
import { auditSection } from '../experiments/report/sections/audit.ts';
import { standalonePage } from '../experiments/report/standalone-page.ts';
import { clockText, countText, durationText, toneOf, verdictWord } from '../experiments/report/words.ts';
import { countChecks } from '../output/check.ts';
import type { LoadCheck } from './checks.ts';
import type { RunFault } from './fault-window.ts';
import type { Measured, MeasuredPhase } from './measured.ts';
import type { LoadResult } from './result.ts';
import { countsText, parametersText, shareText } from './words.ts';

export interface LoadPage {
  /** The stylesheet that all reports share. */
  readonly style: string;
  /** Name of k6's own report beside this page; undefined: k6 wrote none. */
  readonly k6Page: string | undefined;
}

/** A run as one page that asks nothing of the network: verdict, checks, numbers, phases with their faults, audit. */
export function renderLoadPage(result: LoadResult, { style, k6Page }: LoadPage): string {
  const body = html`${header(result)}
<section aria-labelledby="timeline">
  <h2 id="timeline">Phases and faults</h2>
  ${timeline(result)}
  ${phaseTable(result)}
  ${faultTable(result)}
</section>
${checksSection(result)}
${auditSection(result.audit ?? undefined)}
${runSection(result, k6Page)}`;
  return standalonePage({ title: `Load ${result.scenario}: ${result.verdict}`, style, body });
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

const WIDTH = 1000;
const LANE = 26;

/** A lane of phases and one for each fault, over seconds since the first order. */
function timeline({ phases, faults, startedAt }: LoadResult): Markup {
  const totalS = phases.reduce((sum, { durationS }) => sum + durationS, 0);
  const scale = (seconds: number) => (WIDTH * Math.min(Math.max(seconds, 0), totalS)) / totalS;
  const sinceStart = (iso: string) => (Date.parse(iso) - Date.parse(startedAt)) / 1000;
  const starts = phases.map((_, index) => phases.slice(0, index).reduce((sum, { durationS }) => sum + durationS, 0));
  const lanes = [
    ...phases.map(({ name, durationS }, index) => {
      const from = starts[index] ?? 0;
      return { name, lane: 0, from, to: from + durationS, opacity: index % 2 === 0 ? 0.12 : 0.22 };
    }),
    ...faults.flatMap(({ target, fault, from, to }, index) =>
      from === null
        ? []
        : [
            {
              name: `${fault} on ${target}`,
              lane: index + 1,
              from: sinceStart(from),
              to: to === null ? totalS : sinceStart(to),
              opacity: 0.45,
            },
          ],
    ),
  ];
  return html`<svg viewBox="0 0 ${WIDTH} ${LANE * (faults.length + 1)}" width="100%" role="img" aria-label="Phases of the load, and the faults in effect during them">${lanes.map(
    ({ name, lane, from, to, opacity }) => html`
  <rect x="${scale(from)}" y="${lane * LANE}" width="${Math.max(scale(to) - scale(from), 2)}" height="${LANE - 4}" fill="currentColor" fill-opacity="${opacity}"><title>${name}: ${clockText(from * 1000)} to ${clockText(to * 1000)}</title></rect>
  <text x="${scale(from) + 4}" y="${lane * LANE + 15}" font-size="12" fill="currentColor">${name}</text>`,
  )}
</svg>`;
}

function phaseTable({ phases, orders }: LoadResult): Markup {
  return html`<div class="scroll"><table>
  <caption>Requests and their responses</caption>
  <thead><tr><th scope="col">phase</th>${['offered/s', 'sent', 'responses/s', 'as expected', 'p50', 'p95', 'p99', 'max', 'not sent'].map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
  <tbody>${phases.map(phaseRow)}${phases.length > 1 ? html`<tr><th scope="row">all</th><td class="number">–</td>${numbers(orders)}<td class="number">–</td></tr>` : undefined}</tbody>
</table></div>
${counts('Responses', orders.outcomes)}${counts('Errors', orders.errors)}`;
}

function phaseRow(phase: MeasuredPhase): Markup {
  return html`<tr><th scope="row">${phase.name}</th><td class="number">${phase.offeredPerSecond ?? '–'}</td>${numbers(phase)}<td class="number">${countText(phase.missing)}</td></tr>`;
}

function numbers(measured: Measured): Markup[] {
  const { sent, perSecond, latencyMs } = measured;
  const share = shareText(measured) ?? '–';
  const times = [latencyMs.p50, latencyMs.p95, latencyMs.p99, latencyMs.max].map((ms) => durationText(ms ?? undefined));
  return [countText(sent), perSecond, share, ...times].map((text) => html`<td class="number">${text}</td>`);
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
  const row = ({ group, name, verdict, evidence }: LoadCheck) => html`<tr><td>${verdictWord(verdict)}</td>
<td>${group}</td><th scope="row">${name}</th><td>${evidence}</td></tr>`;
  return html`<section aria-labelledby="checks">
  <h2 id="checks">Checks and their evidence</h2>
  <div class="scroll"><table>
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
