import { type JunitCase, renderJunitSuites } from '../output/junit.ts';
import type { CheckResult } from './check.ts';

/** The results as a JUnit report, one testcase a check: `failed` is a failure, `unknown` an error. */
export function renderJunit(
  results: readonly CheckResult[],
  { startedAt, tookMs }: { startedAt: Date; tookMs: number },
): string {
  return renderJunitSuites([{ name: 'shopctl verify', startedAt, tookMs, cases: results.map(caseOf) }]);
}

function caseOf({ id, title, verdict, evidence, details, durationMs }: CheckResult): JunitCase {
  return {
    classname: 'shopctl.verify',
    name: `${id}: ${title}`,
    outcome: verdict,
    evidence,
    ...(details === undefined ? {} : { details }),
    tookMs: durationMs,
  };
}
