import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';
import { renderScore } from '../render-score.ts';
import { commitmentOf, type Envelope } from '../seal/envelope.ts';
import { type Debrief, describeOrders, describeTruths, hasScore } from './debrief.ts';

/** A debrief for people. */
export function renderDebrief(debrief: Debrief, style: Style): string {
  const { envelope, timeline, orders, score } = debrief;
  const heading = hasScore(debrief) ? renderScore(debrief.score, style) : describeNoScore(score);
  const parts = [
    heading,
    ...(envelope === undefined ? ['What it was about was not revealed.'] : [renderTruth(envelope, style)]),
    `${style.bold('Timeline')}\n${formatTable(
      ['AT', 'WHOSE', 'WHAT'],
      timeline.map(({ ms, lane, text }) => [formatDuration(ms), lane, text]),
    )}`,
    `${style.bold('Customers')}\n${describeOrders(orders)}`,
    ...(envelope === undefined ? [] : [renderSolution(envelope, style)]),
  ];
  return [...parts, NEXT].join('\n\n');
}

const NEXT = [
  'next   shopctl drill debrief --html FILE   all on one time axis',
  '       shopctl drill verify                check the journal',
].join('\n');

function describeNoScore(score: Debrief['score']): string {
  return 'why' in score ? `no score, ${score.why}: ${score.reason}` : '';
}

function renderTruth(envelope: Envelope, style: Style): string {
  const { scenario, seed, level } = envelope;
  const truths = describeTruths(scenario).map((truth) => `  ${truth}`);
  const clues = scenario.clues.map(({ stage, where, look }) => [`  ${stage}`, where, look]);
  return [
    style.bold('What it was'),
    ...truths,
    `  scenario ${scenario.id}, seed ${seed} at level ${level}`,
    `  commitment ${commitmentOf(envelope)}`,
    '',
    style.bold('Where it could be seen'),
    formatTable([], clues),
  ].join('\n');
}

function renderSolution({ scenario }: Envelope, style: Style): string {
  return [style.bold('A solution'), ...scenario.reference.map((line) => `  ${line}`)].join('\n');
}
