import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { countLevels } from '../../drills/format/levels.ts';
import { formatTable } from '../../output/table.ts';
import { cloneRoot } from '../../platform/project.ts';

/** `shopctl drill levels` */
export async function runDrillLevels(_: CommonOptions, { output }: CommandDeps): Promise<void> {
  const levels = countLevels(await readScenarios(cloneRoot()));
  output.result({ levels }, () =>
    formatTable(
      ['LEVEL', 'SCENARIOS', 'TRAINS'],
      levels.map(({ level, scenarios, trains }) => [String(level), String(scenarios), trains]),
    ),
  );
}
