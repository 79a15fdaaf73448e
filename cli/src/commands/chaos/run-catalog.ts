import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type FoundExperiment, findExperiments, readCatalog } from '../../experiments/format/catalog.ts';
import { areaOf, renderExperiment, renderList } from '../../experiments/format/render.ts';
import { parseSetting } from '../../experiments/format/substitute.ts';
import { cloneRoot } from '../../platform/project.ts';

export interface ChaosListOptions extends CommonOptions {
  readonly tag?: readonly string[];
}

export interface ChaosShowOptions extends CommonOptions {
  /** `name=value` */
  readonly set?: readonly string[];
}

/** `shopctl chaos list`: exit code 2 when a file of the catalog is not valid; the others are listed all the same. */
export async function runChaosList({ tag: tags = [] }: ChaosListOptions, { output }: CommandDeps): Promise<void> {
  const root = cloneRoot();
  const { found, problems } =
    tags.length > 0 ? { found: await findExperiments(root, { tags }), problems: [] } : await readCatalog(root);
  output.result({ experiments: found.map(summaryOf) }, () => renderList(found, output.style));
  for (const problem of problems) output.warn(problem);
  if (problems.length > 0) process.exitCode = exitCodes.usage;
}

/** `shopctl chaos show`: one experiment with every bound as the number that it is. */
export async function runChaosShow(
  name: string,
  { set = [] }: ChaosShowOptions,
  { output }: CommandDeps,
): Promise<void> {
  const settings = Object.fromEntries(set.map(parseSetting));
  const found = await findExperiments(cloneRoot(), { names: [name], settings });
  for (const one of found) {
    output.result({ file: one.file, ...one.experiment }, () => renderExperiment(one, output.style));
  }
}

/** `shopctl chaos validate`: says nothing is wrong, or throws CliError (2) with everything that is. */
export async function runChaosValidate(
  names: readonly string[],
  _: CommonOptions,
  { output }: CommandDeps,
): Promise<void> {
  const found = await findExperiments(cloneRoot(), { names });
  output.result({ valid: found.map(({ file, experiment: { id } }) => ({ file, id })) }, ({ valid }) =>
    valid.length === 1 ? `${valid[0]?.file} is valid` : `${valid.length} experiments are valid`,
  );
}

function summaryOf({ file, experiment }: FoundExperiment) {
  const { id, title, tags, budget, platform, alone } = experiment;
  return { id, title, area: areaOf(file), file, tags, budgetMs: budget, needs: platform, alone };
}
