import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { readJournal } from '../../experiments/journal.ts';
import { renderMarkdown } from '../../experiments/report/render-markdown.ts';
import { findRun } from '../../experiments/run/experiment-folder.ts';
import { reportsOf } from '../../experiments/run/write-reports.ts';
import { type ReportFiles, writeReportFiles } from '../../report/report-files.ts';

export interface ChaosReportOptions extends CommonOptions, ReportFiles {
  readonly markdown?: string;
}

/** `shopctl chaos report`: a run's reports again, from its journal. Without a file the Markdown is printed. */
export async function runChaosReport(
  runId: string | undefined,
  options: ChaosReportOptions,
  deps: CommandDeps,
): Promise<void> {
  const run = await findRun(deps.projectFrom(options), runId);
  const { records, torn } = await readJournal(run.journal);
  if (torn) deps.output.warn('the journal ends in half a record: its writer was killed');
  const written = await writeReportFiles(options, { ...reportsOf([records]), markdown: () => renderMarkdown(records) });
  const result = { runId: run.runId, journal: run.journal, torn, written };
  deps.output.result(result, () =>
    written.length > 0 ? `${run.runId}: ${written.join(', ')}` : renderMarkdown(records),
  );
}
