import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type JunitSuite, renderJunitSuites } from '../output/junit.ts';
import type { Output } from '../output/output.ts';
import { readPageAssets } from '../report/page-assets.ts';
import { type ReportFiles, writeReportFiles } from '../report/report-files.ts';
import type { LoadRun } from './load-run.ts';
import { renderLoadPage } from './render-html.ts';
import type { LoadResult } from './result.ts';

/** A test case per check. */
export function suiteOf(result: LoadResult): JunitSuite {
  const { scenario, runId, settings, startedAt, tookMs, checks } = result;
  const properties = Object.entries({ runId, ...settings }).map(([name, value]) => [name, String(value)]);
  return {
    name: `load ${scenario}`,
    startedAt: new Date(startedAt),
    tookMs,
    properties: Object.fromEntries(properties),
    classname: `load.${scenario}`,
    cases: checks,
  };
}

/** Where k6 writes its own report when a page is asked for: beside it. */
export function k6PageOf(html: string): string {
  return `${html.replace(/\.html$/, '')}.k6.html`;
}

/** Writes what was asked for. Throws CliError (2) when it cannot be written. */
export async function writeReports({ result, timeline }: LoadRun, files: ReportFiles, output: Output): Promise<void> {
  const k6Page = files.html === undefined ? undefined : await writtenK6Page(k6PageOf(files.html), result);
  const written = await writeReportFiles(files, {
    junit: () => renderJunitSuites([suiteOf(result)]),
    html: () => renderLoadPage(result, { assets: readPageAssets(), timeline, k6Page: k6Page && basename(k6Page) }),
  });
  for (const file of k6Page === undefined ? written : [...written, k6Page]) output.note(`wrote ${file}`);
}

/** Undefined: it is of an earlier run, or was never written. */
async function writtenK6Page(file: string, { startedAt }: LoadResult): Promise<string | undefined> {
  return existsSync(file) && (await stat(file)).mtimeMs >= Date.parse(startedAt) ? file : undefined;
}
