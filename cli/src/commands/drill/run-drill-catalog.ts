import { userInfo } from 'node:os';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { countLevels } from '../../drills/format/levels.ts';
import { readHistory } from '../../drills/history.ts';
import { levelProgress } from '../../drills/progress.ts';
import { formatTable } from '../../output/table.ts';
import { cloneRoot } from '../../platform/project.ts';

export interface DrillLevelsOptions extends CommonOptions {
  readonly as?: string;
}

/** `shopctl drill levels` */
export async function runDrillLevels(options: DrillLevelsOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const trainee = options.as ?? userInfo().username;
  const rounds = await readHistory(projectFrom(options));
  const levels = countLevels(await readScenarios(cloneRoot())).map((one) => ({
    ...one,
    ...levelProgress(one.level, trainee, rounds),
  }));
  output.result({ trainee, levels }, () =>
    formatTable(
      ['LEVEL', 'SCENARIOS', 'UNLOCKED', 'ROUNDS', 'POINTS', 'TRAINS'],
      levels.map(({ level, scenarios, isUnlocked, missing, rounds: played, points, trains }) => [
        String(level),
        String(scenarios),
        isUnlocked ? 'yes' : `${missing} to go`,
        String(played),
        points === null ? '-' : String(points),
        trains,
      ]),
    ),
  );
}
