import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { findDeploy } from '../../deploy/report/find-deploy.ts';
import { suiteOfDeploy } from '../../deploy/report/junit-suite.ts';
import { renderDeployPage } from '../../deploy/report/render-html.ts';
import { renderDeployMarkdown } from '../../deploy/report/render-markdown.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { readPageAssets } from '../../report/page-assets.ts';
import { type ReportFiles, writeReportFiles } from '../../report/report-files.ts';

export interface DeployReportOptions extends CommonOptions, ReportFiles {
  readonly markdown?: string;
}

/** `shopctl deploy report`: from what is on disk. Without a file the Markdown is printed. */
export async function runDeployReport(
  id: string | undefined,
  options: DeployReportOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const report = await findDeploy(projectFrom(options), id, (problem) => output.warn(problem));
  const written = await writeReportFiles(options, {
    html: () => renderDeployPage(report, readPageAssets()),
    junit: () => renderJunitSuites([suiteOfDeploy(report)]),
    markdown: () => renderDeployMarkdown(report),
  });
  const { run, durationMs, states, arms, guards } = report;
  const { releases: _, ...shown } = run;
  output.result({ run: shown, durationMs, states, arms, guards, written }, () =>
    written.length > 0 ? `${run.id}: ${written.join(', ')}` : renderDeployMarkdown(report).trimEnd(),
  );
}
