import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@shop/kit/config.ts';
import { messageOf } from '../../errors.ts';
import { alertRulesIn } from '../../pager/alert-rules.ts';
import { rulesOfClone } from '../../providers/prometheus/files.ts';
import { expectedTree, flatten, parseContract, type TraceContract } from '../../trace/contract.ts';
import { parseYaml, type YamlFile } from '../../yaml/document.ts';
import type { SchemaNode } from '../../yaml/expected.ts';
import { didYouMean, type FileProblem, type Problem, writePath } from '../../yaml/problem.ts';
import { isObject, read } from '../../yaml/read.ts';
import { type Budgets, budgetsOf } from './budgets.ts';
import { checkExperiment, type Known } from './check.ts';
import { withDerivedNeeds } from './derived-needs.ts';
import { type EachItem, type Expansion, expandForEach } from './for-each.ts';
import { readersWith } from './readers.ts';
import { Experiment, type ResolvedExperiment } from './schema.ts';
import { type Configuration, substitute } from './substitute.ts';

/** An experiment, or everything that is wrong with its file. */
export type ReadResult =
  | { readonly experiment: ResolvedExperiment; readonly problems: readonly [] }
  | { readonly experiment: undefined; readonly problems: readonly FileProblem[] };

export interface ReadOptions {
  /** `--set`: replaces values of the file's configuration; a name that it does not have is a problem. */
  readonly settings?: Configuration;
  /** What files refer to by name (see `readKnown`). */
  readonly known: Known;
}

/** Reads the text of an experiment's file. Pure. */
export function readExperiment(text: string, options: ReadOptions): ReadResult {
  return resolveFile(parseYaml(text), options);
}

/** The same of a file that was parsed already. Pure. */
export function resolveFile(yaml: YamlFile, { settings = {}, known }: ReadOptions): ReadResult {
  if (yaml.errors.length > 0) {
    const problems = yaml.errors.map(({ place, message }) => ({ ...place, path: '', message }));
    return { experiment: undefined, problems };
  }
  const { experiment, problems, originOf } = resolve(yaml.value, settings, known);
  if (problems.length === 0) return { experiment: experiment as ResolvedExperiment, problems: [] };
  return { experiment: undefined, problems: placed(problems, originOf, yaml) };
}

/** `originOf` takes the paths of the problems to the file. */
interface Resolved {
  readonly experiment?: ResolvedExperiment;
  readonly problems: readonly Problem[];
  readonly originOf: Expansion['originOf'];
}

function resolve(value: unknown, settings: Configuration, known: Known): Resolved {
  const asWritten = () => undefined;
  // A file with none of these is not an experiment: its contents are not quoted.
  if (!isObject(value) || !['version', 'id', 'method'].some((key) => key in value)) {
    const message = 'the file is not an experiment: it has neither version nor id nor method';
    return { problems: [{ path: [], message }], originOf: asWritten };
  }
  const expansion = expandForEach(value);
  // Without what a broken block makes, other steps would seem to refer to nothing.
  if (expansion.problems.length > 0) return { problems: expansion.problems, originOf: asWritten };
  const { originOf } = expansion;
  const problems: Problem[] = [];
  const configuration = configurationOf(value, settings, problems);
  const file = substitute(expansion.file, configuration, problems, (path) => originOf(path)?.item);
  const context = { problems, readers: readersWith(budgetsFor(file, problems)) };
  const audit = file.audit === 'all' ? {} : file.audit;
  const experiment = read(
    Experiment as SchemaNode,
    // A file that states no configuration has none; an invalid one is reported.
    { ...file, ...(audit !== undefined && { audit }), ...(isObject(file.configuration) && { configuration }) },
    [],
    context,
  ) as ResolvedExperiment;
  const all = [...problems, ...checkExperiment(experiment, problems, known)];
  return { experiment: all.length === 0 ? withDerivedNeeds(experiment) : experiment, problems: all, originOf };
}

function configurationOf(file: Record<string, unknown>, settings: Configuration, problems: Problem[]): Configuration {
  const own = isObject(file.configuration) ? file.configuration : {};
  for (const name of Object.keys(settings).filter((name) => !(name in own))) {
    const hint = didYouMean(name, Object.keys(own));
    problems.push({ path: ['configuration'], message: `--set ${name}: the file has no such configuration${hint}` });
  }
  return { ...own, ...settings };
}

/** Budgets as the services will have them; without overrides where these are invalid, which is reported. */
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

/** One problem a place, in the order of the file; what every repetition of a for-each has wrong, once. */
function placed(problems: readonly Problem[], originOf: Expansion['originOf'], yaml: YamlFile): readonly FileProblem[] {
  const seen = new Set<string>();
  const isFirst = (key: string) => !seen.has(key) && seen.add(key);
  return problems
    .filter(({ path, message }) => {
      // The first is the cause: what follows at the same place says what came of it.
      const place = writePath(path);
      return isFirst(place === '' || message.includes('missing') ? `${place} ${message}` : place);
    })
    .map(({ path, message, isKey = false }) => {
      const { path: source, item } = originOf(path) ?? { path, item: undefined };
      const place = { ...yaml.placeOf(source, { ofKey: isKey }), path: writePath(source) };
      return { ...place, message, from: item && fromItem(item, yaml) };
    })
    .filter(({ path, message, from }) => from === undefined || isFirst(`for-each ${path} ${message}`))
    .map(({ message, from = '', ...place }) => ({ ...place, message: `${message}${from}` }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** ` (for-each item 3 of 12, line 21)` */
function fromItem({ number, count, path }: EachItem, yaml: YamlFile): string {
  return ` (for-each item ${number} of ${count}, line ${yaml.placeOf(path).line})`;
}

/**
 * What the clone has for files to refer to. Few do, so that it is parsed when the first one does, and then throws CliError (2) for what
 * is broken.
 */
export async function readKnown(root: string): Promise<Known> {
  const [contracts, rules] = await Promise.all([readContracts(root), rulesOfClone(root)]);
  return {
    contracts: once(() => new Map(contracts.map(({ name, path, text }) => [name, spansOf(parseContract(text, path))]))),
    alerts: once(() => [...new Set(alertRulesIn(rules).map(({ alertname }) => alertname))]),
  };
}

/** The files of trace contracts. */
async function readContracts(root: string) {
  const folder = join(root, 'contracts', 'traces');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      return { name: file.slice(0, -'.json'.length), path, text: await readFile(path, 'utf8') };
    }),
  );
}

/** The names of a contract's spans. */
function spansOf(contract: TraceContract): readonly string[] {
  return flatten(expectedTree(contract)).map(({ name }) => name);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
