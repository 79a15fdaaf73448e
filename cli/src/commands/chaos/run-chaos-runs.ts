import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { isOfThisVersion, readAnyJournal } from '../../experiments/journal.ts';
import type { JournalRecord } from '../../experiments/journal-records.ts';
import { type ExperimentFolder, listRuns } from '../../experiments/run/experiment-folder.ts';
import { paintVerdict } from '../../output/check.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';

/** One run as in `--json`. `verdict` null: the journal has none, the run was killed or still goes on. */
interface ListedRun {
  readonly runId: string;
  readonly id: string | null;
  readonly title: string | null;
  readonly seed: number | null;
  readonly startedAt: string | null;
  readonly verdict: Extract<JournalRecord, { type: 'verdict' }>['verdict'] | null;
  /** False: another version of shopctl wrote its journal. */
  readonly isReadable: boolean;
  readonly tookMs: number;
  readonly journal: string;
}

/** `shopctl chaos runs`. */
export async function runChaosRuns(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const folders = await listRuns(deps.projectFrom(options));
  const runs = await Promise.all(folders.map(readRun));
  const { output } = deps;
  output.result(runs, () => {
    if (runs.length === 0) return 'no run yet';
    const rows = runs.map(({ runId, title, verdict, isReadable, tookMs }) => [
      runId,
      verdict === null ? withoutVerdict(isReadable) : paintVerdict(verdict, output.style),
      formatDuration(tookMs),
      title ?? '',
    ]);
    return formatTable(['RUN', 'VERDICT', 'TOOK', 'TITLE'], rows);
  });
}

function withoutVerdict(isReadable: boolean): string {
  return isReadable ? 'none (killed, or still going on)' : 'none (of another version)';
}

async function readRun({ runId, journal }: ExperimentFolder): Promise<ListedRun> {
  const { records } = await readAnyJournal(journal);
  const run = records.find((record) => record.type === 'run');
  const isReadable = isOfThisVersion(records);
  const verdict = isReadable ? records.findLast((record) => record.type === 'verdict') : undefined;
  return {
    runId,
    id: run?.experiment.id ?? null,
    title: run?.experiment.title ?? null,
    seed: run?.seed ?? null,
    startedAt: run?.at ?? null,
    verdict: verdict?.verdict ?? null,
    isReadable,
    tookMs: verdict?.tookMs ?? records.at(-1)?.ms ?? 0,
    journal,
  };
}
