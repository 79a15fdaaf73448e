import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { debriefOf, hasScore } from '../../drills/debrief/debrief.ts';
import { renderDebriefPage } from '../../drills/debrief/render-html.ts';
import { renderDebrief } from '../../drills/debrief/render-text.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { type PlayedRound, readHistory } from '../../drills/history.ts';
import { readDrillJournal } from '../../drills/journal/journal-file.ts';
import { type Progress, progressOf } from '../../drills/progress.ts';
import { findRound } from '../../drills/rounds.ts';
import { verifyJournal } from '../../drills/verify.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { cloneRoot } from '../../platform/project.ts';
import { writeReportFiles } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';

export interface DrillDebriefOptions extends CommonOptions {
  readonly html?: string;
}

/** `shopctl drill debrief`: from the journal alone. With a file the page instead of the text. */
export async function runDrillDebrief(
  name: string | undefined,
  options: DrillDebriefOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const round = await findRound(projectFrom(options), name);
  const journal = await readDrillJournal(round.journal);
  const debrief = debriefOf(journal.records);
  const findings = options.html === undefined ? [] : verifyJournal(journal, await readScenarios(cloneRoot()));
  const written = await writeReportFiles(options, {
    html: () => renderDebriefPage(journal.records, { round: round.id, findings }),
  });
  output.result({ round: round.id, ...debrief, written }, () =>
    written.length > 0 ? `${round.id}: ${written.join(', ')}` : renderDebrief(debrief, output.style),
  );
  if (!hasScore(debrief)) process.exitCode = exitCodes.unknown;
}

/** `shopctl drill history` */
export async function runDrillHistory(options: CommonOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const rounds = await readHistory(projectFrom(options));
  const progress = progressOf(rounds);
  output.result({ rounds, progress }, () => {
    if (rounds.length === 0) return 'no rounds yet';
    return [renderRounds(rounds), ...(progress.length === 0 ? [] : [renderProgress(progress)])].join('\n\n');
  });
}

/** Medians of the last five rounds that count. */
function renderProgress(progress: readonly Progress[]): string {
  const after = (ms: number | null) => (ms === null ? '-' : formatDuration(ms));
  return formatTable(
    ['BY', 'NAME', 'ROUNDS', 'POINTS', 'DETECTED', 'DIAGNOSED', 'SERVED AGAIN'],
    progress.map(({ by, name, rounds, points, detectedMs, diagnosedMs, recoveredMs }) => [
      by,
      name,
      String(rounds),
      String(points),
      ...[detectedMs, diagnosedMs, recoveredMs].map(after),
    ]),
  );
}

function renderRounds(rounds: readonly PlayedRound[]): string {
  return formatTable(
    ['ROUND', 'LEVEL', 'TRAINEE', 'POINTS', 'ENDED', 'SCENARIO', 'DETECTED', 'DIAGNOSED', 'SERVED AGAIN'],
    rounds.map(({ id, level, trainee, points, ended, scenario, clocks, isKnown }) => {
      const since = (ms: number | undefined) =>
        ms === undefined || clocks?.symptomMs === undefined ? '-' : formatDuration(Math.max(0, ms - clocks.symptomMs));
      return [
        id,
        String(level),
        trainee,
        points === null ? '-' : String(points),
        isKnown ? `${ended}, known` : ended,
        scenario ?? '-',
        since(clocks?.detectedMs),
        since(clocks?.diagnosedMs),
        since(clocks?.recoveredMs),
      ];
    }),
  );
}
