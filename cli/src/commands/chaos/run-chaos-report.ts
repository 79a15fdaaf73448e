import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { readJournal } from '../../experiments/journal.ts';
import { renderHtml } from '../../experiments/report/render-html.ts';
import { renderJunit } from '../../experiments/report/render-junit.ts';
import { renderMarkdown } from '../../experiments/report/render-markdown.ts';
import { findRun } from '../../experiments/run/run-folder.ts';
import { writeReportFile } from '../../output/report-file.ts';

export interface ChaosReportOptions extends CommonOptions {
  readonly html?: string;
  readonly junit?: string;
  readonly markdown?: string;
}

/** `shopctl chaos report`: a run's reports again, from its journal. Without a file the Markdown is printed. */
export async function runChaosReport(
  runId: string | undefined,
  { html, junit, markdown, ...options }: ChaosReportOptions,
  deps: CommandDeps,
): Promise<void> {
  const run = await findRun(deps.projectFrom(options), runId);
  const { records, torn } = await readJournal(run.journal);
  if (torn) deps.output.warn('the journal ends in half a record: its writer was killed');
  const written: string[] = [];
  const write = async (file: string | undefined, render: () => string) => {
    if (file === undefined) return;
    await writeReportFile(file, render());
    written.push(file);
  };
  await write(html, () => renderHtml(records));
  await write(junit, () => renderJunit(records));
  await write(markdown, () => renderMarkdown(records));
  const result = { runId: run.runId, journal: run.journal, torn, written };
  deps.output.result(result, () =>
    written.length > 0 ? `${run.runId}: ${written.join(', ')}` : renderMarkdown(records),
  );
}
