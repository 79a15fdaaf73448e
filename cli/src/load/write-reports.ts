import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { renderJunitSuites } from '../output/junit.ts';
import type { Output } from '../output/output.ts';
import { type ReportFiles, writeReportFile } from '../output/report-file.ts';
import type { LoadResult } from './result.ts';

/** JUnit with a test case per check. */
export function renderLoadJunit(result: LoadResult): string {
  const { scenario, runId, settings, startedAt, tookMs, checks } = result;
  const properties = Object.entries({ runId, ...settings }).map(([name, value]) => [name, String(value)]);
  return renderJunitSuites([
    {
      name: `load ${scenario}`,
      startedAt: new Date(startedAt),
      tookMs,
      properties: Object.fromEntries(properties),
      cases: checks.map(({ kind, name, outcome, evidence }) => ({
        classname: `load.${scenario}.${kind}`,
        name,
        outcome,
        evidence,
        tookMs: 0,
      })),
    },
  ]);
}

/** Writes JUnit, and tells whether k6 has written its page. Throws CliError (2) when it cannot be written. */
export async function writeReports(result: LoadResult, { junit, html }: ReportFiles, output: Output): Promise<void> {
  if (junit !== undefined) {
    await writeReportFile(junit, renderLoadJunit(result));
    output.note(`wrote ${junit}`);
  }
  if (html === undefined) return;
  const isWritten = existsSync(html) && (await stat(html)).mtimeMs >= Date.parse(result.startedAt);
  if (isWritten) output.note(`wrote ${html}`);
  else output.warn(`k6 wrote nothing into ${html}: the run was too short, or was ended early`);
}
