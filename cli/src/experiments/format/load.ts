import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@shop/kit/config.ts';
import { messageOf } from '../../errors.ts';
import { expectedTree, flatten, loadContract } from '../../trace/contract.ts';
import { type Budgets, budgetsOf } from './budgets.ts';
import { checkExperiment } from './check.ts';
import { parseYaml, type YamlFile } from './document.ts';
import type { SchemaNode } from './expected.ts';
import { didYouMean, type Problem, writePath } from './problem.ts';
import { isObject, read } from './read.ts';
import { Experiment, type ResolvedExperiment } from './schema.ts';
import { type Configuration, substitute } from './substitute.ts';

/** A problem of a file, ready to be shown: `12:5 method[2].provider.target: there is no ...`. */
export interface FileProblem {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

/** An experiment, or everything that is wrong with its file. */
export type ReadResult =
  | { readonly experiment: ResolvedExperiment; readonly problems: readonly [] }
  | { readonly experiment: undefined; readonly problems: readonly FileProblem[] };

export interface ReadOptions {
  /** `--set`: replaces values of the file's configuration; a name that it does not have is a problem. */
  readonly settings?: Configuration;
  /** Trace contracts by name, with the names of their spans (see `readContracts`). */
  readonly contracts: ReadonlyMap<string, readonly string[]>;
}

/** Reads the text of an experiment's file. Pure. */
export function readExperiment(text: string, options: ReadOptions): ReadResult {
  return resolveFile(parseYaml(text), options);
}

/** The same of a file that was parsed already. Pure. */
export function resolveFile(yaml: YamlFile, { settings = {}, contracts }: ReadOptions): ReadResult {
  if (yaml.errors.length > 0) {
    const problems = yaml.errors.map(({ place, message }) => ({ ...place, path: '', message }));
    return { experiment: undefined, problems };
  }
  const { experiment, problems } = resolve(yaml.value, settings, contracts);
  if (problems.length === 0) return { experiment: experiment as ResolvedExperiment, problems: [] };
  return { experiment: undefined, problems: placed(problems, yaml) };
}

function resolve(value: unknown, settings: Configuration, contracts: ReadOptions['contracts']) {
  // What has none of these is some other file, and its contents are nobody's business.
  if (!isObject(value) || !['version', 'id', 'method'].some((key) => key in value)) {
    return {
      experiment: undefined,
      problems: [{ path: [], message: 'the file holds no experiment: it has neither version nor id nor method' }],
    };
  }
  const problems: Problem[] = [];
  const configuration = configurationOf(value, settings, problems);
  const file = substitute(value, configuration, problems);
  const context = { budgets: budgetsFor(file, problems), problems };
  const audit = file.audit === 'all' ? {} : file.audit;
  const experiment = read(
    Experiment as SchemaNode,
    // A file that states no configuration has none; one that states nonsense is told so.
    { ...file, ...(audit !== undefined && { audit }), ...(isObject(file.configuration) && { configuration }) },
    [],
    context,
  ) as ResolvedExperiment;
  return { experiment, problems: [...problems, ...checkExperiment(experiment, problems, contracts)] };
}

function configurationOf(file: Record<string, unknown>, settings: Configuration, problems: Problem[]): Configuration {
  const own = isObject(file.configuration) ? file.configuration : {};
  for (const name of Object.keys(settings).filter((name) => !(name in own))) {
    const hint = didYouMean(name, Object.keys(own));
    problems.push({ path: ['configuration'], message: `--set ${name}: the file has no such configuration${hint}` });
  }
  return { ...own, ...settings };
}

/** Budgets as the services will have them; without overrides where these are wrong, which is told. */
function budgetsFor({ platform }: Record<string, unknown>, problems: Problem[]): Budgets {
  const env = isObject(platform) && isObject(platform.env) ? platform.env : {};
  try {
    return budgetsOf(env as Record<string, string>);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push({ path: ['platform', 'env'], message: messageOf(error) });
    return budgetsOf();
  }
}

/** One problem a place, in the order of the file. */
function placed(problems: readonly Problem[], yaml: YamlFile): readonly FileProblem[] {
  const seen = new Set<string>();
  return problems
    .map(({ path, message, isKey = false }) => ({
      ...yaml.placeOf(path, { ofKey: isKey }),
      path: writePath(path),
      message,
    }))
    .filter(({ path, message }) => {
      // The first is the cause: what follows at the same place says what came of it.
      const key = path === '' || message.includes('missing') ? `${path} ${message}` : path;
      return !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** The trace contracts of the clone, by name, with the names of their spans. Throws CliError (2) for a broken one. */
export async function readContracts(root: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = await readdir(join(root, 'contracts', 'traces'));
  const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
  const entries = names.map(async (name) => {
    const contract = await loadContract(name, root);
    return [name, flatten(expectedTree(contract)).map((span) => span.name)] as const;
  });
  return new Map(await Promise.all(entries));
}
