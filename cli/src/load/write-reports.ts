import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { readPageAssets } from '../experiments/report/page-assets.ts';
import { type JunitSuite, renderJunitSuites } from '../output/junit.ts';
import type { Output } from '../output/output.ts';
import { type ReportFiles, writeReportFile } from '../output/report-file.ts';
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

/** JUnit with a test case per check. */
export function renderLoadJunit(result: LoadResult): string {
  return renderJunitSuites([suiteOf(result)]);
}

/** Where k6 writes its own report when a page is asked for: beside it. */
export function k6PageOf(html: string): string {
  return `${html.replace(/\.html$/, '')}.k6.html`;
}

/** Writes what was asked for. Throws CliError (2) when it cannot be written. */
export async function writeReports(
  { result, timeline }: LoadRun,
  { junit, html }: ReportFiles,
  output: Output,
): Promise<void> {
  if (junit !== undefined) {
    await writeReportFile(junit, renderLoadJunit(result));
    output.note(`wrote ${junit}`);
  }
  if (html === undefined) return;
  const k6Page = k6PageOf(html);
  const isWritten = existsSync(k6Page) && (await stat(k6Page)).mtimeMs >= Date.parse(result.startedAt);
  const page = { assets: readPageAssets(), timeline, k6Page: isWritten ? basename(k6Page) : undefined };
  await writeReportFile(html, renderLoadPage(result, page));
  output.note(`wrote ${html}${isWritten ? `, and k6's own report into ${k6Page}` : ''}`);
}
