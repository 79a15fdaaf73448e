import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { findScenario, readScenarios } from '../../drills/format/catalog.ts';
import { countLevels, HAS_DEPLOY } from '../../drills/format/levels.ts';
import { formatTable } from '../../output/table.ts';
import { cloneRoot } from '../../platform/project.ts';

/** `shopctl drill levels` */
export async function runDrillLevels(_: CommonOptions, { output }: CommandDeps): Promise<void> {
  const levels = countLevels(await readScenarios(cloneRoot()), HAS_DEPLOY);
  output.result({ levels }, () =>
    formatTable(
      ['LEVEL', 'SCENARIOS', 'TRAINS'],
      levels.map(({ level, scenarios, available, trains }) => [
        String(level),
        available === scenarios ? String(scenarios) : `${available} of ${scenarios}`,
        trains,
      ]),
    ),
  );
}

/** `shopctl drill validate`: says that nothing is wrong, or throws CliError (2) with everything that is. */
export async function runDrillValidate(
  ids: readonly string[],
  _: CommonOptions,
  { output }: CommandDeps,
): Promise<void> {
  const scenarios = await readScenarios(cloneRoot());
  const chosen = ids.length === 0 ? scenarios : ids.map((id) => findScenario(scenarios, id));
  output.result({ valid: chosen.map(({ id, level }) => ({ id, level })) }, ({ valid }) =>
    valid.length === 1 ? `${valid[0]?.id} is valid` : `${valid.length} scenarios are valid`,
  );
}
