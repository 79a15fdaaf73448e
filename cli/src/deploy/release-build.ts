import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Release } from '../platform/release.ts';
import { bundleIn, bundleName } from '../platform/service-bundle.ts';
import { complaintOf, runProgram } from '../process/run-program.ts';
import { extractCommit } from './commit-files.ts';
import { filesIn, type ReleaseSource, sourcesOf } from './release-source.ts';

/** Longer than `npm ci` and a build on a slow machine, ms. */
const BUILD_LIMIT_MS = 600_000;

/** What a folder of bundles is made of; in `release.json` beside them. */
interface Built {
  readonly tree: string;
  readonly digest: string;
}

/** What is loaded before each service. */
const TELEMETRY = 'telemetry.cjs';

/** Where what a build has made is, by its name. */
type Place = (file: string) => string;
const builtPlace =
  (root: string): Place =>
  (file) =>
    join(root, 'dist', file.startsWith('telemetry') ? file : join('services', file));

const bundleAt = (service: string, from: Place) => bundleName(service, (file) => existsSync(from(file)));

/** The folder of all releases of a service, relative to the clone. */
export const releasesOf = (service: string) => join('dist/releases', service);

const filesOf = (bundle: string) => [bundle, `${bundle}.map`, TELEMETRY, `${TELEMETRY}.map`];

/** Its bundles, from the same sources built before or now, by the build script that the sources have. */
export async function buildRelease(source: ReleaseSource, root: string, signal: AbortSignal): Promise<Release> {
  const { service, base, version, tree, seededBugs, env } = source;
  const folder = join(releasesOf(service), base);
  const digest = (await builtIn(join(root, folder), tree)) ?? (await build(source, root, folder, signal));
  return { version, folder, digest, seededBugs: [...seededBugs], env: { ...env } };
}

/** A copy of what the clone has built, so that it can run after the next build, too. */
export async function keepBuilt(service: string, root: string, version: string): Promise<Release> {
  const from = builtPlace(root);
  const digest = await digestOf(service, from);
  const folder = join(releasesOf(service), `${version}-b${digest.slice(0, 8)}`);
  if ((await builtIn(join(root, folder), digest)) === undefined)
    await store(service, join(root, folder), { tree: digest, digest }, from);
  return { version: basename(folder), folder, digest, seededBugs: [], env: {} };
}

/**
 * A copy of a release with another version, before whose first statement other ones run. It differs in what it does, and in nothing that
 * is recorded of it.
 */
export async function alteredRelease(
  service: string,
  root: string,
  { release, version, prelude }: { readonly release: Release; readonly version: string; readonly prelude: string },
): Promise<Release> {
  const folder = join(releasesOf(service), version);
  const from = join(root, release.folder);
  const tree = createHash('sha256').update(`${release.digest} ${prelude}`).digest('hex');
  const known = await builtIn(join(root, folder), tree);
  if (known !== undefined) return { ...release, version, folder, digest: known };
  const copy = await mkdtemp(join(tmpdir(), 'shop-release-'));
  try {
    // Without source maps, whose positions it moves.
    await copyFile(join(from, TELEMETRY), join(copy, TELEMETRY));
    const bundle = bundleIn(from, service);
    await writeFile(join(copy, basename(bundle)), `${prelude}\n${await readFile(bundle, 'utf8')}`);
    const place: Place = (file) => join(copy, file);
    const digest = await digestOf(service, place);
    await store(service, join(root, folder), { tree, digest }, place);
    return { ...release, version, folder, digest };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Of what the clone has built now. */
export function builtDigest(service: string, root: string): Promise<string> {
  return digestOf(service, builtPlace(root));
}

async function builtIn(folder: string, tree: string): Promise<string | undefined> {
  const file = join(folder, 'release.json');
  if (!existsSync(file)) return undefined;
  const built = JSON.parse(await readFile(file, 'utf8')) as Built;
  if (built.tree !== tree) return undefined;
  // What was used last is removed last.
  await utimes(file, new Date(), new Date());
  return built.digest;
}

async function build(source: ReleaseSource, root: string, folder: string, signal: AbortSignal): Promise<string> {
  const { service, tree, description } = source;
  const copy = await mkdtemp(join(tmpdir(), 'shop-release-'));
  try {
    await copySources(source, copy, signal);
    await installInto(copy, root, signal);
    const names = JSON.stringify(['telemetry', service]);
    const work = `const { buildOnly } = await import('./scripts/build.mjs'); await buildOnly(${names});`;
    const script = `try { ${work} } catch (error) { console.error(error.message); process.exit(1); }`;
    await runProgram(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: copy,
      signal,
      timeoutMs: BUILD_LIMIT_MS,
    });
    const from = builtPlace(copy);
    const digest = await digestOf(service, from);
    await store(service, join(root, folder), { tree, digest }, from);
    return digest;
  } catch (cause) {
    signal.throwIfAborted();
    throw new CliError({
      code: 'build_failed',
      what: `${description} cannot be built`,
      why: complaintOf(cause),
      next: 'correct the sources, or choose others with --from or --dir',
      cause,
    });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function copySources({ service, commit, path }: ReleaseSource, to: string, signal: AbortSignal): Promise<void> {
  const wanted = [...sourcesOf(service)];
  if (commit === undefined) {
    for (const file of await filesIn(path, wanted)) {
      await mkdir(dirname(join(to, file)), { recursive: true });
      await copyFile(join(path, file), join(to, file));
    }
    return;
  }
  await extractCommit(commit, wanted, { from: path, to }, signal);
}

/** What is installed in the clone, where the sources want the same; our packages are those of the sources. */
async function installInto(copy: string, root: string, signal: AbortSignal): Promise<void> {
  const lock = (place: string) => readFile(join(place, 'package-lock.json'), 'utf8');
  if ((await lock(copy)) !== (await lock(root))) {
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    await runProgram('npm', args, { cwd: copy, signal, timeoutMs: BUILD_LIMIT_MS });
    return;
  }
  const installed = join(root, 'node_modules');
  const modules = join(copy, 'node_modules');
  await mkdir(join(modules, '@shop'), { recursive: true });
  for (const name of await readdir(installed)) {
    if (['@shop', 'shopctl', '.cache', '.vite'].includes(name)) continue;
    await symlink(join(installed, name), join(modules, name));
  }
  const services = (await readdir(join(copy, 'services'))).map((name) => join('services', name));
  for (const workspace of ['kit', ...services]) {
    await symlink(join(copy, workspace), join(modules, '@shop', basename(workspace)));
    // Where a package of ours needs another version than the others.
    const own = join(root, workspace, 'node_modules');
    if (existsSync(own)) await symlink(own, join(copy, workspace, 'node_modules'));
  }
}

/** Whole or not at all: a build that was interrupted leaves nothing that looks like a release. */
async function store(service: string, folder: string, built: Built, from: Place): Promise<void> {
  const draft = `${folder}.${process.pid}.tmp`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  for (const file of filesOf(bundleAt(service, from)).filter((one) => existsSync(from(one)))) {
    if (file.endsWith('.map')) await writeFile(join(draft, file), await mapFrom(from(file)));
    else await copyFile(from(file), join(draft, file));
  }
  await writeFile(join(draft, 'release.json'), `${JSON.stringify(built)}\n`);
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
}

/** A source map whose sources are found from another folder. */
async function mapFrom(file: string): Promise<string> {
  const map = JSON.parse(await readFile(file, 'utf8')) as { sources: string[] };
  // Below `dist/releases/orders/0.2.0-d86d15007` it is three folders deeper than below `dist`.
  const depth = basename(dirname(file)) === 'dist' ? 3 : 2;
  return JSON.stringify({ ...map, sources: map.sources.map((source) => join('../'.repeat(depth), source)) });
}

async function digestOf(service: string, from: Place): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [bundleAt(service, from), TELEMETRY]) hash.update(await readFile(from(file)));
  return hash.digest('hex').slice(0, 16);
}

/** When the clone has built what a service runs, ms since 1970. */
export async function builtAtMs(service: string, root: string): Promise<number> {
  const from = builtPlace(root);
  const files = [bundleAt(service, from), TELEMETRY].map(from);
  return Math.max(...(await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs))));
}
