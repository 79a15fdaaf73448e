import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { AnnotationOptions, CommandDeps, CommonOptions } from '../../command-context.ts';
import { annotate } from '../../output/annotations.ts';
import { renderCheck, renderSummary } from '../../output/check.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { notRunning } from '../../platform/control-client.ts';
import { assertNoStuckFaults } from '../../platform/orphaned-faults.ts';
import { describeSeededBugs } from '../../platform/seeded-bugs.ts';
import { refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { type CheckResult, exitCodeOf, type Verdict, worst } from '../../shared/verdict.ts';
import { writeBundle } from '../../verify/bundle.ts';
import { createContext } from '../../verify/context.ts';
import { runChecks } from '../../verify/runner.ts';
import { connectWithin } from '../connect-within.ts';

export interface VerifyCommandOptions extends CommonOptions, AnnotationOptions {
  readonly junit?: string;
  /** Seconds. */
  readonly timeout: number;
}

/** The whole result; `--json` prints it as it is. */
export interface VerifyReport {
  readonly verdict: Verdict;
  readonly project: string;
  readonly startedAt: string;
  readonly tookMs: number;
  /** Known bugs that were put back into the platform (`up --seed-bug`). */
  readonly seededBugs: readonly SeededBugName[];
  readonly checks: readonly CheckResult[];
  /** Folder with what explains a failure; null when all checks passed. */
  readonly bundle: string | null;
}

/** Verifies the running platform with two orders, prints one line a check and sets the exit code. */
export async function runVerify(options: VerifyCommandOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const connection = await connectWithin(deps, project);
  if (connection.state.status === 'stopped') throw notRunning();
  assertNoStuckFaults(connection.state.faults);
  await refuseUnwritable(options);
  const startedAt = new Date();
  const began = performance.now();
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(options.timeout * 1000)]);
  const { output } = deps;
  await using context = createContext({ project, connection, signal, style: output.style, env: deps.env });
  const progress = output.progress('verifying');
  const checks = await runChecks(context, ({ name }) => progress.update(name));
  const tookMs = Math.round(performance.now() - began);
  progress.stop();
  deps.signal.throwIfAborted();
  const suite = { name: 'shopctl verify', startedAt, tookMs, classname: 'shopctl.verify', cases: checks };
  await writeReportFiles(options, { junit: () => renderJunitSuites([suite]) });
  const verdict = worst(checks.map((check) => check.verdict));
  const bundle = verdict === 'pass' ? null : await writeBundle(context, checks);
  const report: VerifyReport = {
    verdict,
    project: project.name,
    startedAt: startedAt.toISOString(),
    tookMs,
    seededBugs: connection.state.seededBugs ?? [],
    checks,
    bundle,
  };
  output.result(report, () => render(report, deps));
  await annotate([suite], options, deps);
  process.exitCode = exitCodeOf(verdict);
}

function render({ checks, tookMs, bundle, seededBugs }: VerifyReport, { output: { style } }: CommandDeps): string {
  const lines = [...describeSeededBugs(seededBugs).map(style.red), ...checks.map((check) => renderCheck(check, style))];
  const where = bundle === null ? [] : [`logs, traces and state: ${bundle}`];
  return [...lines, renderSummary(checks, tookMs, style), ...where].join('\n');
}
