import { formatTable } from '../output/table.ts';
import { cutText, widthOf } from '../output/width.ts';
import type { PlayedRound } from './history.ts';
import type { Progress } from './progress.ts';

const TIMES = ['DETECT', 'DIAGNOSE', 'SERVED'] as const;
const KNOWN = '*';
/** Beside a trainee's name. */
const OTHER_COLUMNS = 72;
/** As wide as its header. */
const LEAST_NAME = 7;

/** Rounds, and medians of the last five that count by component and by family. No row is wider than the terminal. */
export function renderHistory(
  rounds: readonly PlayedRound[],
  progress: readonly Progress[],
  { columns }: { readonly columns: number },
): string {
  if (rounds.length === 0) return 'no rounds yet';
  const tables = (['component', 'family'] as const).flatMap((by) => renderProgress(by, progress));
  const times = 'times: seconds from the symptom';
  const legend = rounds.some(({ isKnown }) => isKnown) ? `${times}; ${KNOWN}: known, counts in no median` : times;
  return [renderRounds(rounds, columns), legend, ...tables].join('\n\n');
}

function renderRounds(rounds: readonly PlayedRound[], columns: number): string {
  const name = Math.max(LEAST_NAME, columns - OTHER_COLUMNS);
  return formatTable(
    ['ROUND', 'TRAINEE', 'POINTS', 'ENDED', 'SCENARIO', ...TIMES],
    rounds.map(({ id, level, trainee, points, ended, scenario, clocks, isKnown }) => {
      const since = (ms: number | undefined) =>
        ms === undefined || clocks?.symptomMs === undefined ? null : Math.max(0, ms - clocks.symptomMs);
      return [
        id,
        widthOf(trainee) > name ? cutText(trainee, name) : trainee,
        points === null ? '-' : String(points),
        ended,
        `${scenario ?? `level ${level}`}${isKnown ? KNOWN : ''}`,
        ...[clocks?.detectedMs, clocks?.diagnosedMs, clocks?.recoveredMs].map((ms) => seconds(since(ms))),
      ];
    }),
  );
}

function renderProgress(by: Progress['by'], progress: readonly Progress[]): readonly string[] {
  const rows = progress.filter((one) => one.by === by);
  if (rows.length === 0) return [];
  return [
    formatTable(
      [by.toUpperCase(), 'ROUNDS', 'POINTS', ...TIMES],
      rows.map(({ name, rounds, points, detectedMs, diagnosedMs, recoveredMs }) => [
        name,
        String(rounds),
        String(points),
        ...[detectedMs, diagnosedMs, recoveredMs].map(seconds),
      ]),
    ),
  ];
}

const seconds = (ms: number | null) => (ms === null ? '-' : (ms / 1000).toFixed(1));
