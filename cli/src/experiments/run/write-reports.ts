import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../../errors.ts';
import { type AnnotatedSuite, type AnnotationDeps, annotate } from '../../output/annotations.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import type { Output } from '../../output/output.ts';
import { type ReportFiles, writeReportFiles } from '../../report/report-files.ts';
import { readJournal } from '../journal.ts';
import type { JournalRecord } from '../journal-records.ts';
import { suiteOfRun } from '../report/junit-suite.ts';
import { renderHtml } from '../report/render-html.ts';
import type { ExperimentFolder } from './experiment-folder.ts';

/** Writes `report.html` and `junit.xml` beside the journal. A report that fails does not change what was measured. */
export async function writeReports({ path, journal }: ExperimentFolder, output: Output): Promise<string | null> {
  const html = join(path, 'report.html');
  try {
    const { records } = await readJournal(journal);
    await writeReportFiles({ html, junit: join(path, 'junit.xml') }, reportsOf([records]), 0o600);
    return html;
  } catch (error) {
    output.warn(`no report was written: ${messageOf(error)}`);
    return null;
  }
}

/** `--junit FILE` and `--html FILE` over all runs of a command; HTML is of the last run. */
export async function writeSharedReports(
  runs: readonly { readonly journal: string }[],
  { junit, html }: ReportFiles,
  output: Output,
): Promise<void> {
  if ((junit === undefined && html === undefined) || runs.length === 0) return;
  const journals = await Promise.all(runs.map(async ({ journal }) => (await readJournal(journal)).records));
  await writeReportFiles({ junit, html }, reportsOf(journals));
  if (html !== undefined && runs.length > 1)
    output.note(`${html} shows the last of ${runs.length} runs; each has its own beside its journal`);
}

/** JUnit has a suite for each run; a page shows the last. */
export function reportsOf(runs: readonly (readonly JournalRecord[])[]) {
  return {
    junit: () => renderJunitSuites(runs.map(suiteOfRun)),
    html: () => renderHtml(runs.at(-1) ?? []),
  };
}

/** Reports to the forge that runs this what did not pass, in the file of its experiment. The verdict has been reported by then. */
export async function annotateRuns(
  runs: readonly { readonly journal: string }[],
  options: Parameters<typeof annotate>[1],
  { root, ...deps }: AnnotationDeps & { readonly root: string },
): Promise<void> {
  const suites = runs.map(async ({ journal }): Promise<AnnotatedSuite> => {
    const { records } = await readJournal(journal);
    const written = records.find((record) => record.type === 'run')?.file;
    if (written === undefined) return suiteOfRun(records);
    const file = resolve(root, written);
    return { ...suiteOfRun(records), source: { file, text: await readFile(file, 'utf8') } };
  });
  try {
    await annotate(await Promise.all(suites), options, deps);
  } catch (error) {
    deps.output.warn(`no annotations were written: ${messageOf(error)}`);
  }
}
