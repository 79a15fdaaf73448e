import { html, type Markup } from '../../report/html.ts';
import type { PageAssets } from '../../report/page-assets.ts';
import type { OutcomeTone } from '../../report/page-data.ts';
import { factList, stackedTable, verdictHeader } from '../../report/parts.ts';
import { standalonePage } from '../../report/standalone-page.ts';
import { svgChart } from '../../report/svg-chart.ts';
import { clockText, durationText, verdictWord } from '../../report/words.ts';
import { PROMOTION_EVIDENCE } from '../analysis/plan.ts';
import { type DeployReport, percent } from './deploy-report.ts';
import { checksOf, reasonsOf, summaryOf, verdictOf } from './words.ts';

/** A deploy as one page that asks nothing of the network, and runs no script. */
export function renderDeployPage(report: DeployReport, { style }: Pick<PageAssets, 'style'>): string {
  const { run } = report;
  const body = html`${header(report)}
${overTime(report)}
${evidenceSection(report)}
${versionSection(report)}
${checkSection(report)}
${traceSection(report)}
${eventSection(report)}
${runSection(report)}`;
  return standalonePage({ title: `Deploy of ${run.service} ${run.to}: ${run.state}`, style, body });
}

function header(report: DeployReport): Markup {
  const { run, durationMs } = report;
  return verdictHeader({
    kind: `deploy, ${run.strategy}`,
    title: `${run.service} ${run.from} → ${run.to}`,
    verdict: verdictOf(run),
    word: run.state,
    summary: summaryOf(run),
    reasons: reasonsOf(report),
    footer: `took ${durationText(durationMs)} · run ${run.id}`,
  });
}

function overTime({ run, durationMs, shares, states }: DeployReport): Markup {
  const chart =
    shares.length === 0
      ? html`<p class="muted">Only a canary has a share of the calls. ${passage(run.strategy)}</p>`
      : svgChart({
          title: "The canary's share of the calls",
          summary: `Share of the calls over ${durationText(durationMs)}: ${shares.map(({ ms, share }) => `${percent(share)} from ${clockText(ms)}`).join(', ')}.`,
          durationMs,
          series: [
            {
              label: 'share',
              tone: 'good',
              shape: 'step',
              points: shares.map(({ ms, share }) => ({ ms, value: share })),
            },
          ],
          from: 0,
          to: 1,
          ticks: [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: percent(value) })),
        });
  const table = stackedTable({
    caption: 'States, by the time since the deploy began',
    columns: ['state', 'from', 'took'],
    header: 'state',
    numbers: ['from', 'took'],
    rows: states.map(({ state, fromMs, toMs }) => [state, clockText(fromMs), durationText(toMs - fromMs)]),
  });
  return html`<section aria-labelledby="time">
  <h2 id="time">Weights over time</h2>
  ${chart}
  ${table}
</section>`;
}

function passage(strategy: string): string {
  return strategy === 'blue-green'
    ? 'Of a blue-green deploy all calls pass over in one write, at the end of the state "shifting".'
    : 'Of a rolling deploy the calls pass over replica by replica in the state "shifting".';
}

/** Below and above it the axis ends. */
const LEAST_POWER = -3;
const MOST_POWER = 12;

function evidenceSection({ run, durationMs, evidence }: DeployReport): Markup | undefined {
  if (run.canary === undefined) return undefined;
  const { plan } = run.canary;
  const limits = {
    errors: -Math.log10(plan.errors.alpha),
    slow: -Math.log10(plan.slow.alpha),
    promotion: Math.log10(PROMOTION_EVIDENCE),
  };
  const values = evidence.flatMap(({ errors, slow, promotion }) => [errors, slow, promotion]);
  const highest = values.reduce((most, value) => Math.max(most, value), limits.slow);
  const to = Math.min(MOST_POWER, Math.ceil(highest + 0.5));
  const step = to - LEAST_POWER > 9 ? 3 : 1;
  const powers = Array.from(
    { length: Math.floor((to - LEAST_POWER) / step) + 1 },
    (_, index) => LEAST_POWER + index * step,
  );
  const line = (key: keyof typeof limits, label: string, tone: OutcomeTone, stroke: 'solid' | 'dashed' | 'dotted') => ({
    series: { label, tone, stroke, points: evidence.map((point) => ({ ms: point.ms, value: point[key] })) },
    limit: { label: `${label.slice(0, 1)}: ${limitText(10 ** limits[key])}`, value: limits[key], tone, stroke },
  });
  const lines = [
    line('errors', `E, more errors: rolls back at 1/alpha = ${limitText(1 / plan.errors.alpha)}`, 'bad', 'solid'),
    line('slow', `S, slower: rolls back at 1/alpha = ${limitText(1 / plan.slow.alpha)}`, 'warn', 'dashed'),
    line('promotion', `P, within the margin: promotes at ${PROMOTION_EVIDENCE}`, 'good', 'dotted'),
  ];
  const last = evidence.at(-1);
  return html`<section aria-labelledby="evidence">
  <h2 id="evidence">Evidence over time</h2>
  ${
    last === undefined
      ? html`<p>No outcome of the canary was read.</p>`
      : svgChart({
          title: 'Evidence, each power of ten as high as the next',
          summary: `At the end the evidence was ${powerText(last.errors)} for more errors, ${powerText(last.slow)} for slowness, ${powerText(last.promotion)} for promotion.`,
          durationMs,
          series: lines.map(({ series }) => series),
          limits: lines.map(({ limit }) => limit),
          from: LEAST_POWER,
          to,
          ticks: powers.map((power) => ({ value: power, text: powerText(power) })),
        })
  }
  <p class="muted">Values beyond the axis are drawn at its end. However often a test is looked at, the chance that a good
  release ever reaches the line is at most alpha.</p>
</section>`;
}

const limitText = (value: number) => String(Number(value.toPrecision(3)));

function powerText(power: number): string {
  const value = 10 ** power;
  return power < 6 ? String(Number(value.toPrecision(2))) : `1e+${Math.floor(power)}`;
}

function versionSection({ run, durationMs, arms, rates }: DeployReport): Markup {
  if (arms.length === 0) {
    return html`<section aria-labelledby="versions">
  <h2 id="versions">Versions beside each other</h2>
  <p class="muted">${run.canary === undefined ? 'Outcomes by version are recorded of canaries only.' : 'No outcome was read.'}</p>
</section>`;
  }
  const table = stackedTable({
    caption: 'First attempts that no header sent to a track, by what they reached',
    columns: ['version', 'track', 'requests', 'failed', 'error rate', 'slow'],
    header: 'version',
    numbers: ['requests', 'failed', 'error rate', 'slow'],
    rows: arms.map(({ arm, version, requests, bad, slow, timed }) => [
      version,
      arm,
      requests,
      bad,
      requests === 0 ? '–' : percent(bad / requests),
      timed === 0 ? 'unknown' : percent(slow / timed),
    ]),
  });
  const highest = rates.reduce((most, { canary = 0, stable = 0 }) => Math.max(most, canary, stable), 0.01);
  const to = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((top) => top >= highest) ?? 1;
  const series = (['canary', 'stable'] as const).map((arm) => ({
    label: arm,
    tone: arm === 'canary' ? ('bad' as const) : ('good' as const),
    stroke: arm === 'canary' ? ('solid' as const) : ('dashed' as const),
    points: rates.map((point) => ({ ms: point.ms, value: point[arm] })),
  }));
  return html`<section aria-labelledby="versions">
  <h2 id="versions">Versions beside each other</h2>
  ${table}
  ${svgChart({
    title: 'Requests that fail',
    summary: `Error rates of both versions over ${durationText(durationMs)}; the table has their totals.`,
    durationMs,
    series,
    from: 0,
    to,
    ticks: [0, to / 2, to].map((value) => ({ value, text: percent(value) })),
  })}
</section>`;
}

function checkSection(report: DeployReport): Markup | undefined {
  const checks = checksOf(report);
  if (checks.length === 0) return undefined;
  return html`<section aria-labelledby="checks">
  <h2 id="checks">Checks and their evidence</h2>
  ${stackedTable({
    columns: ['verdict', 'group', 'check', 'evidence'],
    header: 'check',
    rows: checks.map(({ id, group = '', name, verdict, evidence }) => [
      verdictWord(verdict),
      group,
      id === undefined ? name : `${id}: ${name}`,
      evidence,
    ]),
  })}
</section>`;
}

function traceSection({ run: { cause } }: DeployReport): Markup | undefined {
  if (cause?.details === undefined) return undefined;
  const lines = cause.details.split('\n');
  const toneOf = (line: string) => ({ '-': 'bad', '+': 'good', '~': 'warn' })[line.slice(0, 1)] ?? 'muted';
  return html`<section aria-labelledby="trace">
  <h2 id="trace">What is different from the contract</h2>
  <p class="muted">Lines with - are spans that the trace lacks, + are too many, ~ are otherwise.</p>
  <pre class="diff">${lines.map((line) => html`<span class="${toneOf(line)}">${line}</span>\n`)}</pre>
</section>`;
}

function eventSection({ events }: DeployReport): Markup {
  return html`<section aria-labelledby="events">
  <h2 id="events">What happened</h2>
  ${stackedTable({
    columns: ['at', 'kind', 'what'],
    header: 'at',
    rows: events.map(({ ms, kind, text }) => [clockText(ms), kind, text]),
  })}
</section>`;
}

function runSection({ run }: DeployReport): Markup {
  const { canary, asked } = run;
  const facts: readonly (readonly [string, string])[] = [
    ['run', run.id],
    ['started', run.startedAt],
    ['source', run.source],
    [
      'asked by',
      [`${asked.by.user}, ${asked.by.source}`, asked.reason]
        .filter((part) => part !== undefined && part !== '')
        .join(', '),
    ],
    ...(run.releases === undefined
      ? []
      : ([
          ['build before', run.releases.from.digest],
          ['build', run.releases.to.digest],
        ] as const)),
    ...(canary === undefined
      ? []
      : ([
          [
            'steps',
            canary.plan.steps.map(({ share, requests }) => `${percent(share)} until ${requests} requests`).join(', '),
          ],
          ['alpha', percent(canary.plan.errors.alpha + canary.plan.slow.alpha)],
          ['margin', percent(canary.plan.margin)],
        ] as const)),
  ];
  return html`<section aria-labelledby="run">
  <h2 id="run">The deploy</h2>
  ${factList(facts)}
</section>`;
}
