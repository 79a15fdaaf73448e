import type { JunitSuite } from '../../output/junit.ts';
import type { DeployReport } from './deploy-report.ts';
import { checksOf, reasonsOf, summaryOf, verdictOf } from './words.ts';

/** A deploy as a suite of JUnit: a testcase for each check, and one for how it ended. */
export function suiteOfDeploy(report: DeployReport): JunitSuite {
  const { run, durationMs } = report;
  const reasons = reasonsOf(report);
  return {
    name: `deploy of ${run.service} ${run.to}`,
    startedAt: new Date(run.startedAt),
    tookMs: durationMs,
    properties: { run: run.id, strategy: run.strategy, from: run.from, to: run.to, state: run.state },
    classname: `deploy.${run.service}`,
    cases: [
      ...checksOf(report),
      {
        group: 'deploy',
        name: 'end',
        verdict: verdictOf(run),
        evidence: `${run.state}: ${summaryOf(run)}`,
        details: [summaryOf(run), ...reasons].join('\n'),
        tookMs: durationMs,
      },
    ],
  };
}
