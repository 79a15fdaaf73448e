import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { isSeededBugName, seededBugs } from '@shop/kit/seeded-bug-names.ts';
import { CliError } from '../errors.ts';
import { unknownService } from '../platform/unknown-service.ts';
import { complaintOf, runProgram } from '../process/run-program.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { serviceNames } from '../topology/services.ts';

/** What a release is to be made of. */
export interface ReleaseRequest {
  readonly service: string;
  /** A commit of the clone, by any of its names. */
  readonly from?: string;
  /** Another copy of the sources. Without both: the sources of the clone, as they are now. */
  readonly dir?: string;
  /** In place of sources: an image that the engine has. */
  readonly image?: string;
  readonly seedBug?: readonly string[];
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The sources of a release. */
export interface ReleaseSource {
  readonly service: string;
  /** For people: `HEAD~1`. */
  readonly description: string;
  /** The version of its bundles: `0.2.0-g2a3047fe`. */
  readonly base: string;
  /** The version of the release: that of its bundles, with what is added to them. */
  readonly version: string;
  /** Of everything that its bundles are made of. */
  readonly tree: string;
  readonly commit?: string;
  /** Absolute; of a commit, that of the clone. */
  readonly path: string;
  readonly seededBugs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the bundles of a service are made of, relative to the clone. */
export const sourcesOf = (service: string) =>
  ['kit', `services/${service}`, 'proto', 'scripts', 'package.json', 'package-lock.json'] as const;

/** Set by the platform: with other values the instance would not be a part of it. */
const OF_THE_PLATFORM =
  /^(HOST|PORT|(HEALTH|INSTANCE)_PORT|INSTANCE|LISTEN_FD|REUSE_PORT|EXIT_WITH_PARENT|FAILPOINT_DIR|\w+_FILE|SHOP_(SEEDED_BUGS|SHADOW|TRACK|VERSION)|SHOPCTL_\w+|(DATABASE|BROKER)_URL|\w+_(URLS|ADDRESSES)|OTEL_(SERVICE_NAME|RESOURCE_ATTRIBUTES|EXPORTER_OTLP_ENDPOINT)|NODE_COMPILE_CACHE)$/;

/** Finds the sources, and builds nothing. Throws CliError (2) for what is not there. */
export async function resolveRelease(request: ReleaseRequest, root: string): Promise<ReleaseSource> {
  checkRelease(request);
  const { service, from, dir, seedBug = [], env = {} } = request;
  const sources =
    from === undefined ? await folderSources(service, root, dir) : await commitSources(service, root, from);
  return { service, ...sources, version: versionWith(sources.base, request), seededBugs: seedBug, env };
}

/** Throws CliError (2) for what no sources and no image can be made of. Pure. */
export function checkRelease({ service, from, dir, image, seedBug = [], env = {} }: ReleaseRequest): void {
  if (!(serviceNames as readonly string[]).includes(service)) throw unknownService(service, serviceNames);
  const given = Object.entries({ '--from': from, '--dir': dir, '--image': image });
  const [first, second] = given.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (second !== undefined) throw invalidRelease(`${first} cannot be combined with ${second}`, 'leave one of them out');
  checkBugs(service, seedBug);
  checkEnvironment(env);
}

/** The version of a release: that of its build, with what is added to it. Pure. */
export function versionWith(base: string, { seedBug = [], env = {} }: Pick<ReleaseRequest, 'seedBug' | 'env'>): string {
  const added = [
    ...seedBug.map((name) => `bug.${name}`),
    ...(Object.keys(env).length > 0 ? [`env.${hashOf(env)}`] : []),
  ];
  return [base, added.join('.')].filter((part) => part !== '').join('+');
}

async function commitSources(service: string, root: string, ref: string) {
  const git = async (...args: string[]) => (await runProgram('git', args, { cwd: root, timeoutMs: 30_000 })).stdout;
  const commit = await git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`).catch((cause: unknown) => {
    throw new CliError({
      code: 'unknown_ref',
      what: `"${ref}" is not a commit of this clone`,
      why: complaintOf(cause),
      next: 'see "git log" and "git tag"',
      cause,
    });
  });
  const objects = await git('rev-parse', ...sourcesOf(service).map((path) => `${commit}:${path}`)).catch(
    (cause: unknown) => {
      throw invalidRelease(`"${ref}" has no ${service} that can be built`, 'choose a later commit', complaintOf(cause));
    },
  );
  const { version } = JSON.parse(await git('show', `${commit}:services/${service}/package.json`)) as {
    version: string;
  };
  return {
    description: ref,
    base: `${version}-g${commit.slice(0, 8)}`,
    tree: createHash('sha256').update(objects).digest('hex'),
    commit,
    path: root,
  };
}

async function folderSources(service: string, root: string, dir: string | undefined) {
  const path = resolve(dir ?? root);
  const manifest = join(path, 'services', service, 'package.json');
  if (!existsSync(join(path, 'scripts/build.mjs')) || !existsSync(manifest)) {
    throw invalidRelease(
      `${path} has no sources of ${service}`,
      'name the root of a copy of this repository',
      `${manifest} or scripts/build.mjs is missing`,
    );
  }
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const tree = await hashOfFiles(path, await filesIn(path, sourcesOf(service)));
  return { description: dir ?? 'the sources of this clone', base: `${version}-d${tree.slice(0, 8)}`, tree, path };
}

/** Files below these paths, sorted; tests and what is installed are in no bundle. */
export async function filesIn(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path): Promise<readonly string[]> => {
      const absolute = join(root, path);
      if (!(await stat(absolute)).isDirectory()) return [path];
      const names = (await readdir(absolute)).filter((name) => name !== 'node_modules' && !/\.test\.m?ts$/.test(name));
      return filesIn(
        root,
        names.map((name) => join(path, name)),
      );
    }),
  );
  return found.flat().toSorted();
}

async function hashOfFiles(root: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`${relative('.', file)}\n`);
    for await (const chunk of createReadStream(join(root, file))) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

function checkBugs(service: string, names: readonly string[]): void {
  for (const name of names) {
    if (isSeededBugName(name) && seededBugs[name].service === service) continue;
    const own = Object.entries(seededBugs).flatMap(([bug, about]) => (about.service === service ? [bug] : []));
    const suggestion = suggestName(name, own);
    throw invalidRelease(
      `${service} has no seeded bug "${name}"`,
      suggestion === undefined ? `known: ${own.join(', ') || 'none'}` : `did you mean "${suggestion}"?`,
    );
  }
}

function checkEnvironment(env: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(env)) {
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw invalidRelease(`"${name}" is not the name of a variable`, 'use --env NAME=VALUE');
    if (OF_THE_PLATFORM.test(name))
      throw invalidRelease(`${name} cannot be set for a release`, 'leave it out', 'the platform sets it');
  }
}

function hashOf(env: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(env).toSorted(([a], [b]) => a.localeCompare(b));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 8);
}

export function invalidRelease(what: string, next: string, why?: string): CliError {
  return new CliError({ code: 'invalid_release', what, next, ...(why !== undefined && { why }) });
}
