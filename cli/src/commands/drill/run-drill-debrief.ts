import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { debriefOf, hasScore } from '../../drills/debrief.ts';
import { readHistory } from '../../drills/history.ts';
import { readDrillJournal } from '../../drills/journal/journal-file.ts';
import { renderDebrief } from '../../drills/render-debrief.ts';
import { findRound } from '../../drills/rounds.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';

/** `shopctl drill debrief`: from the journal alone. */
export async function runDrillDebrief(
  name: string | undefined,
  options: CommonOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const round = await findRound(projectFrom(options), name);
  const debrief = debriefOf((await readDrillJournal(round.journal)).records);
  output.result({ round: round.id, ...debrief }, () => renderDebrief(debrief, output.style));
  if (!hasScore(debrief)) process.exitCode = exitCodes.unknown;
}

/** `shopctl drill history` */
export async function runDrillHistory(options: CommonOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const rounds = await readHistory(projectFrom(options));
  output.result({ rounds }, () => {
    if (rounds.length === 0) return 'no rounds yet';
    return formatTable(
      ['ROUND', 'LEVEL', 'TRAINEE', 'POINTS', 'ENDED', 'SCENARIO', 'DETECTED', 'DIAGNOSED', 'SERVED AGAIN'],
      rounds.map(({ id, level, trainee, points, ended, scenario, clocks, isKnown }) => {
        const since = (ms: number | undefined) =>
          ms === undefined || clocks?.symptomMs === undefined
            ? '-'
            : formatDuration(Math.max(0, ms - clocks.symptomMs));
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
  });
}
