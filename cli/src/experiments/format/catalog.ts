import { glob, readFile } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { CliError, messageOf } from '../../errors.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import { parseYaml, type YamlFile } from '../../yaml/document.ts';
import type { FileProblem } from '../../yaml/problem.ts';
import { isObject } from '../../yaml/read.ts';
import { type ReadResult, readKnown, resolveFile } from './load.ts';
import type { ResolvedExperiment } from './schema.ts';
import type { Configuration } from './substitute.ts';

/** An experiment and its file. */
export interface FoundExperiment {
  /** Relative to the clone where it is inside of it. */
  readonly file: string;
  readonly experiment: ResolvedExperiment;
}

export interface Selection {
  /** Ids of the catalog and paths of files, in this order; an empty list means the catalog. */
  readonly names?: readonly string[];
  /** Only experiments with at least one of these tags. */
  readonly tags?: readonly string[];
  /** `--set`. */
  readonly settings?: Configuration;
}

/** A file of experiments as it was found, right or wrong. */
interface ReadFile {
  readonly file: string;
  /** As the file says, also where the rest of it is wrong. */
  readonly id: string | undefined;
  readonly result: ReadResult;
}

/**
 * The selected experiments. Throws CliError (2): a name that does not exist, with the nearest one. Also everything that
 * is wrong with the selected files, and an id that two files of the catalog have.
 */
export async function findExperiments(root: string, selection: Selection = {}): Promise<readonly FoundExperiment[]> {
  const files = await readSelected(root, selection);
  const problems = problemsOf(files);
  if (problems.length > 0) throw invalidFiles(problems);
  const found = files.flatMap(({ file, result: { experiment } }) => (experiment ? [{ file, experiment }] : []));
  return withTags(found, selection.tags ?? []);
}

/** The catalog as far as it is right, and what is wrong with the rest: a broken file must not hide the others. */
export async function readCatalog(
  root: string,
): Promise<{ readonly found: readonly FoundExperiment[]; readonly problems: readonly string[] }> {
  const files = await readSelected(root, {});
  const found = files.flatMap(({ file, result: { experiment } }) => (experiment ? [{ file, experiment }] : []));
  return { found, problems: problemsOf(files) };
}

async function readSelected(root: string, { names = [], settings = {} }: Selection): Promise<readonly ReadFile[]> {
  const known = await readKnown(root);
  const parsed = new Map<string, YamlFile>();
  const read = async (path: string): Promise<ReadFile> => {
    const yaml = parsed.get(path) ?? (await yamlOf(path));
    return { file: shown(path, root), id: idOf(yaml), result: resolveFile(yaml, { settings, known }) };
  };
  if (names.length === 0) return Promise.all((await catalogFiles(root)).map(read));
  const ids = names.filter((name) => !isPath(name));
  const ofCatalog = ids.length === 0 ? [] : await filesWithIds(ids, root);
  for (const { path, yaml } of ofCatalog) parsed.set(path, yaml);
  const chosen = names.flatMap((name) => (isPath(name) ? [resolve(name)] : pathsOf(name, ofCatalog)));
  return Promise.all([...new Set(chosen)].map(read));
}

/** A file of the catalog as YAML. */
interface ParsedFile {
  readonly path: string;
  readonly yaml: YamlFile;
  readonly id: string | undefined;
}

/**
 * The files of the catalog that are named after the ids, where each of these is in one of them. Otherwise all files: one may be
 * named after another id, and what is not there at all is compared with all that is.
 */
async function filesWithIds(ids: readonly string[], root: string): Promise<readonly ParsedFile[]> {
  const files = await catalogFiles(root);
  const wanted = ids.map((id) => id.toLowerCase());
  const named = files.filter((path) => wanted.some((id) => basename(path).toLowerCase().startsWith(`${id}-`)));
  const parsed = await parseAll(named);
  const found = new Set(parsed.map(({ id }) => id?.toLowerCase()));
  return wanted.every((id) => found.has(id)) ? parsed : parseAll(files);
}

function parseAll(paths: readonly string[]): Promise<readonly ParsedFile[]> {
  return Promise.all(
    paths.map(async (path) => {
      const yaml = await yamlOf(path);
      return { path, yaml, id: idOf(yaml) };
    }),
  );
}

/** Every file under `chaos/`, in the order of their names. */
async function catalogFiles(root: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob('chaos/**/*.{yaml,yml}', { cwd: root })) files.push(file);
  return files.toSorted((a, b) => basename(a).localeCompare(basename(b))).map((file) => join(root, file));
}

/** Ids have neither dots nor slashes. */
function isPath(name: string): boolean {
  return /[./\\]/.test(name);
}

function pathsOf(id: string, known: readonly ParsedFile[]): string[] {
  const paths = known.filter((one) => one.id?.toLowerCase() === id.toLowerCase()).map(({ path }) => path);
  if (paths.length > 0) return paths;
  const ids = known.flatMap((one) => one.id ?? []);
  const suggestion = suggestName(id.toUpperCase(), ids);
  throw new CliError({
    code: 'unknown_experiment',
    what: `unknown experiment "${id}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: 'run "shopctl chaos list", or give the path of a file (./my-experiment.yaml)',
  });
}

async function yamlOf(path: string): Promise<YamlFile> {
  try {
    return parseYaml(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new CliError({
      code: 'invalid_experiment',
      what: `cannot read the experiment ${path}`,
      why: messageOf(cause),
      next: 'give the path of a YAML file, or an id of "shopctl chaos list"',
      cause,
    });
  }
}

function idOf({ value }: YamlFile): string | undefined {
  return isObject(value) && typeof value.id === 'string' ? value.id : undefined;
}

function shown(path: string, root: string): string {
  const inside = relative(root, path);
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}

/** `chaos/payments/E08.yaml:12:5 method[2]: unknown ...`, and problems between files. */
function problemsOf(files: readonly ReadFile[]): readonly string[] {
  return files.flatMap(({ file, id, result }) => [
    ...result.problems.map((problem) => writeProblem(file, problem)),
    ...catalogProblems({ file, id }, files),
  ]);
}

function writeProblem(file: string, { line, column, path, message }: FileProblem): string {
  return `${file}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`;
}

/** Ids of the catalog are short, are in the file's name, and name one file. */
function catalogProblems({ file, id }: Omit<ReadFile, 'result'>, files: readonly ReadFile[]): string[] {
  if (id === undefined) return [];
  const same = files.find((other) => other.id === id);
  if (same && same.file !== file) return [`${file}:1:1 id: ${same.file} has the id ${id} too`];
  if (!file.startsWith('chaos/')) return [];
  if (!/^[A-Z]\d{2}[a-z]?$/.test(id))
    return [`${file}:1:1 id: in the catalog an id is a letter and two digits, like E08`];
  return basename(file).startsWith(`${id}-`) ? [] : [`${file}:1:1 id: the file of ${id} is named ${id}-<words>.yaml`];
}

function invalidFiles(problems: readonly string[]): CliError {
  return new CliError({
    code: 'invalid_experiment',
    what:
      problems.length === 1 ? 'an experiment is not valid' : `experiments are not valid: ${problems.length} problems`,
    why: problems.join('\n'),
    next: 'correct the files; docs/experiments.md describes the format',
  });
}

function withTags(found: readonly FoundExperiment[], tags: readonly string[]): readonly FoundExperiment[] {
  if (tags.length === 0) return found;
  const known = [...new Set(found.flatMap(({ experiment }) => experiment.tags))];
  for (const tag of tags.filter((one) => !known.includes(one))) {
    const suggestion = suggestName(tag, known);
    throw new CliError({
      code: 'unknown_experiment',
      what: `no experiment has the tag "${tag}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
      next: `tags are ${known.toSorted().join(', ') || 'none'}`,
    });
  }
  return found.filter(({ experiment }) => tags.some((tag) => experiment.tags.includes(tag)));
}
