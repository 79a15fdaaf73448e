import { stat } from 'node:fs/promises';
import { writeTo } from '../experiments/run/write-reports.ts';
import { renderJunitSuites } from '../output/junit.ts';
import type { Output } from '../output/output.ts';
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

/** Files that a run is to write; undefined: not asked for. */
export interface ReportFiles {
  readonly junit?: string;
  readonly html?: string;
}

/** Makes them, empty, before the load is run for nothing. Throws CliError (2) when one cannot be written. */
export async function prepareReports({ junit, html }: ReportFiles): Promise<void> {
  for (const file of [junit, html]) if (file !== undefined) await writeTo(file, '');
}

/** Writes JUnit, and tells whether k6 has written its page. Throws CliError (2) when it cannot be written. */
export async function writeReports(result: LoadResult, { junit, html }: ReportFiles, output: Output): Promise<void> {
  if (junit !== undefined) {
    await writeTo(junit, renderLoadJunit(result));
    output.note(`wrote ${junit}`);
  }
  if (html === undefined) return;
  if ((await stat(html)).size > 0) output.note(`wrote ${html}`);
  else output.warn(`k6 wrote nothing into ${html}: the run was too short, or was ended early`);
}
