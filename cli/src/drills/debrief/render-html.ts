import { chartStack } from '../../report/chart-stack.ts';
import { type Content, html, type Markup } from '../../report/html.ts';
import { type PageAssets, readPageAssets } from '../../report/page-assets.ts';
import { factList, stackedTable, verdictHeader } from '../../report/parts.ts';
import { standalonePage } from '../../report/standalone-page.ts';
import { clockText, durationText, traceId, verdictWord } from '../../report/words.ts';
import type { DrillRecord } from '../journal/records.ts';
import { recordsOf } from '../journal/records.ts';
import { CLOCK_NAMES } from '../render-score.ts';
import type { Part } from '../score/part.ts';
import { type Round, roundOf } from '../score/round.ts';
import { canonicalJson } from '../seal/canonical.ts';
import { commitmentOf, type Envelope } from '../seal/envelope.ts';
import type { Finding } from '../verify.ts';
import { type Debrief, debriefOf, describeOrders, describeTruths, hasScore } from './debrief.ts';
import { knownOf } from './known.ts';
import { chartsOf } from './timeline.ts';
import { type TraceDiff, type TraceRow, traceDiffOf } from './trace-diff.ts';

export interface DebriefPage {
  readonly round: string;
  /** What `drill verify` finds. */
  readonly findings: readonly Finding[];
  readonly assets?: PageAssets;
}

/** A round that is over as one page that asks nothing of the network. Throws CliError (3) when the clone was never built. */
export function renderDebriefPage(records: readonly DrillRecord[], page: DebriefPage): string {
  const debrief = debriefOf(records);
  const round = roundOf(records);
  const body = html`${header(debrief, page, records)}
<main>
${scoreSection(debrief)}
${round && truthSection(round)}
${timelineSection(debrief, round)}
${traceSection(traceDiffOf(recordsOf(records, 'exemplar')))}
${round && solutionSection(round)}
${proofSection(debrief.envelope, page, records)}
</main>`;
  return standalonePage({ title: `Drill ${page.round}`, ...(page.assets ?? readPageAssets()), body });
}

function header(debrief: Debrief, { round, findings }: DebriefPage, records: readonly DrillRecord[]): Markup {
  const { score, envelope, orders } = debrief;
  const start = recordsOf(records, 'start')[0];
  const truths = envelope === undefined ? [] : describeTruths(envelope.scenario);
  const wrong = findings.filter(({ verdict }) => verdict === 'fail');
  return verdictHeader({
    kind: `drill ${round}, level ${start?.level ?? '?'}, ${start?.strength ?? 'practice'}`,
    title: truths.length === 0 ? 'A round that was not revealed' : truths.join('; '),
    verdict: wrong.length > 0 ? 'fail' : hasScore(debrief) ? 'pass' : 'unknown',
    word: hasScore(debrief) ? `${debrief.score.points} of 100` : 'no score',
    summary: 'why' in score ? `${score.why}: ${score.reason}` : `ended: ${score.ended}, rubric ${score.rubric}`,
    reasons: wrong.map(({ name, evidence }) => `this journal proves nothing, not ${name}: ${evidence}`),
    footer: `${start?.trainee ?? 'unknown'} · ${start?.at ?? ''} · ${describeOrders(orders)}`,
  });
}

function scoreSection(debrief: Debrief): Markup | undefined {
  if (!hasScore(debrief)) return undefined;
  const { parts, clocks } = debrief.score;
  const { symptomMs } = clocks;
  return html`<section aria-labelledby="score">
  <h2 id="score">Score</h2>
  ${stackedTable({
    caption: 'Each lost point with its reason, and the numbers of the journal’s records that show it.',
    columns: ['part', 'points', 'lost'],
    header: 'part',
    rows: parts.map(({ name, of, points, losses }) => [name, `${points} of ${of}`, lossList(losses)]),
  })}
  <h3>Clocks, since the start of the round</h3>
  <dl class="clocks">${CLOCK_NAMES.flatMap(([key, name]) => {
    const ms = clocks[key];
    if (ms === undefined) return [];
    const after = symptomMs !== undefined && ms > symptomMs ? `${durationText(ms - symptomMs)} after the symptom` : '';
    return [html`<div><dt>${name}</dt><dd>${clockText(ms)} <small>${after}</small></dd></div>`];
  })}</dl>
</section>`;
}

function lossList(losses: Part['losses']): Content {
  if (losses.length === 0) return 'nothing';
  return html`<ul>${losses.map(({ points, reason, evidence }) => html`<li>−${points}: ${reason} <span class="muted">(${evidence.length === 1 ? 'record' : 'records'} ${evidence.join(', ')})</span></li>`)}</ul>`;
}

/** What could be known when. */
function truthSection(round: Round): Markup {
  const rows = knownOf(round).map(({ stage, where, look, sinceMs, lookedMs }) => [
    where,
    look,
    stage,
    clockText(sinceMs),
    lookedMs === undefined ? 'not looked at' : clockText(lookedMs),
  ]);
  return html`<section aria-labelledby="known">
  <h2 id="known">What could be known when</h2>
  ${stackedTable({ columns: ['where', 'what', 'helps to', 'since', 'looked at'], header: 'where', rows })}
</section>`;
}

function timelineSection({ timeline }: Debrief, round: Round | undefined): Markup {
  const hasMetric = round?.scenario.symptom.of === 'metric';
  return html`<section aria-labelledby="timeline">
  <h2 id="timeline">Timeline</h2>
  ${
    round &&
    chartStack(chartsOf(round, timeline), {
      pending: 'shipments that are overdue',
      ...(hasMetric && { waiting: 'the metric of the scenario' }),
    })
  }
  ${stackedTable({
    columns: ['at', 'whose', 'what'],
    header: 'at',
    rows: timeline.map(({ ms, lane, text }) => [clockText(ms), lane, text]),
  })}
</section>`;
}

const SIGNS: Readonly<Record<TraceRow['mark'], readonly [sign: string, word: string, tone: string]>> = {
  same: ['', '', ''],
  slower: ['~', 'slower', 'warn'],
  missing: ['-', 'missing', 'bad'],
  extra: ['+', 'more', 'warn'],
  different: ['~', 'different', 'bad'],
};

function traceSection(diff: TraceDiff | undefined): Markup {
  return html`<section aria-labelledby="traces">
  <h2 id="traces">An order before, and one during</h2>
  ${diff === undefined ? html`<p>The traces of two orders were not kept: none was placed, or the store was not reached.</p>` : diffTable(diff)}
</section>`;
}

function diffTable({ before, during, rows }: TraceDiff): Markup {
  const label = ({ traceId: id, outcome, happenedMs }: TraceDiff['before']) =>
    html`${clockText(happenedMs)}, ${outcome}, ${traceId(id)}`;
  return html`<dl><dt>before</dt><dd>${label(before)}</dd><dt>during</dt><dd>${label(during)}</dd></dl>
  ${stackedTable({
    caption: 'Spans of both: - is missing, + is more, ~ is slower or different.',
    columns: ['span', 'before', 'during', 'difference'],
    header: 'span',
    numbers: ['before', 'during'],
    rows: rows.map(({ mark, depth, service, name, beforeMs, duringMs, isError }) => {
      const [sign, word, tone] = SIGNS[mark];
      const words = [word, isError ? 'in error' : ''].filter((one) => one !== '').join(', ');
      return [
        // Styles of elements are not allowed in these pages, so depth is written.
        html`<code>${'\u00a0'.repeat(2 * depth)}${sign === '' ? '' : `${sign} `}${service} ${name}</code>`,
        durationText(beforeMs),
        durationText(duringMs),
        words === '' ? '' : html`<span class="word ${tone === '' ? 'bad' : tone}">${words}</span>`,
      ];
    }),
  })}`;
}

function solutionSection({ scenario }: Round): Markup {
  return html`<section aria-labelledby="solution">
  <h2 id="solution">A solution</h2>
  <pre>${scenario.reference.join('\n')}</pre>
</section>`;
}

/** Everything that is needed to compute the digest with another program. */
function proofSection(
  envelope: Envelope | undefined,
  { findings }: DebriefPage,
  records: readonly DrillRecord[],
): Markup {
  const stated = recordsOf(records, 'start')[0]?.commitment ?? 'none';
  return html`<section aria-labelledby="proof">
  <h2 id="proof">Proof</h2>
  ${stackedTable({
    columns: ['verdict', 'claim', 'evidence'],
    header: 'claim',
    rows: findings.map(({ verdict, name, evidence }) => [verdictWord(verdict), name, evidence]),
  })}
  ${factList([
    ['commitment at the start', stated],
    ...(envelope === undefined
      ? []
      : ([
          ['SHA-256 of the envelope', commitmentOf(envelope)],
          ['nonce', envelope.nonce],
          ['seed', `${envelope.seed} at level ${envelope.level}`],
          ['scenario', envelope.scenario.id],
          ['build', envelope.build],
          ['digest of all scenarios', envelope.catalogDigest],
        ] as const)),
    ['last hash', records.at(-1)?.hash ?? 'none'],
  ])}
  ${
    envelope &&
    html`<details><summary>The envelope as canonical JSON (RFC 8785): its SHA-256 is the commitment</summary>
  <pre>${canonicalJson(envelope)}</pre></details>`
  }
</section>`;
}
