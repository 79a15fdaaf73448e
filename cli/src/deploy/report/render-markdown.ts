import { inlineMarkdown, markdownTable } from '../../report/markdown.ts';
import { clockText, durationText } from '../../report/words.ts';
import { type DeployReport, percent } from './deploy-report.ts';
import { checksOf, reasonsOf, summaryOf } from './words.ts';

/** A deploy in short, for a terminal and for the page of a CI job. */
export function renderDeployMarkdown(report: DeployReport): string {
  const { run, durationMs, states, arms } = report;
  return [
    `## ${inlineMarkdown(`Deploy of ${run.service} ${run.to}`)}: ${run.state}`,
    `${summaryOf(run)}.`,
    reasonsOf(report)
      .map((reason) => `- ${inlineMarkdown(reason)}`)
      .join('\n'),
    `Run ${run.id}, ${run.strategy}, from ${inlineMarkdown(run.from)}, took ${durationText(durationMs)}.`,
    markdownTable(
      ['version', 'track', 'requests', 'failed', 'error rate'],
      arms.map(({ arm, version, requests, bad }) => [
        version,
        arm,
        String(requests),
        String(bad),
        requests === 0 ? '–' : percent(bad / requests),
      ]),
    ),
    markdownTable(
      ['check', 'verdict', 'evidence'],
      checksOf(report).map(({ id, name, verdict, evidence }) => [
        id === undefined ? name : `${id}: ${name}`,
        verdict,
        evidence,
      ]),
    ),
    markdownTable(
      ['state', 'from', 'took'],
      states.map(({ state, fromMs, toMs }) => [state, clockText(fromMs), durationText(toMs - fromMs)]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}
