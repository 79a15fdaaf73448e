import { type CoveredFailpoint, readCoverage } from '../../chaos/coverage.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Output } from '../../output/output.ts';
import { formatTable } from '../../output/table.ts';
import { failpointFolder, resetCounts } from '../../platform/failpoint-files.ts';

export interface ChaosCoverageOptions extends CommonOptions {
  readonly reset?: boolean;
  readonly require?: 'all';
}

/** `shopctl chaos coverage`. Exit code 1 with `--require all` when some failpoint was never reached. */
export async function runChaosCoverage(options: ChaosCoverageOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const failpoints = await readCoverage(project);
  const missing = failpoints.filter(({ hits }) => hits === 0).map(({ failpoint }) => failpoint);
  deps.output.result(
    { failpoints, reached: failpoints.length - missing.length, total: failpoints.length, missing },
    () => describe(failpoints, missing, deps.output),
  );
  if (options.reset) {
    await resetCounts(failpointFolder(project));
    deps.output.note('the counts were reset');
  }
  if (options.require === 'all' && missing.length > 0) process.exitCode = exitCodes.failed;
}

function describe(failpoints: readonly CoveredFailpoint[], missing: readonly string[], { style }: Output): string {
  const table = formatTable(
    ['FAILPOINT', 'HITS', 'ACTED', 'PASSED WHEN', 'WHERE'],
    failpoints.map(({ failpoint, hits, acted, description, places }) => [
      hits === 0 ? style.red(failpoint) : failpoint,
      String(hits),
      String(acted),
      description,
      places.join(' ') || '-',
    ]),
  );
  const reached = `${failpoints.length - missing.length} of ${failpoints.length} failpoints were reached`;
  return `${table}\n\n${missing.length === 0 ? style.green(reached) : `${style.yellow(reached)}; never: ${missing.join(', ')}`}`;
}
