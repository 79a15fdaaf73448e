#!/usr/bin/env node
/**
 * Fills a folder with what an image holds, and nothing else. For a service: its bundle, the telemetry preload, the
 * packages that are not in the bundle, and a file of variables that Node reads. For `migrations`: the program that applies them, and all SQL. Run in the build
 * stage of services/Dockerfile and deploy/migrations/Dockerfile:
 *
 *     node scripts/image.mjs orders /app
 *     node scripts/image.mjs orders /app harness
 *
 * A service's bundle is a production build, without failpoints and seeded bugs, unless a harness build is asked for.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageEnvironment } from '../cli/src/topology/image-environment.ts';
import { services } from '../cli/src/topology/services.ts';
import { buildOnly, outsideServices, serviceBundle, serviceNames, serviceTargetName } from './build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [subject = '', folder = '', build = 'production'] = process.argv.slice(2);
const names = [...(await serviceNames()), 'migrations'];
if (!names.includes(subject) || folder === '' || !['production', 'harness'].includes(build)) {
  console.error(`usage: image.mjs NAME FOLDER [production|harness]; names: ${names.join(', ')}`);
  process.exit(2);
}

const copied = new Set();
await mkdir(folder, { recursive: true });
if (subject === 'migrations') await fillMigrations();
else await fillService(subject);

async function fillMigrations() {
  await buildOnly(['migrate']);
  await cp(join(root, 'dist/migrate.mjs'), join(folder, 'migrate.mjs'));
  await cp(join(root, 'migrations'), join(folder, 'migrations'), { recursive: true });
}

async function fillService(service) {
  const target = serviceTargetName(service, build);
  const { [target]: metafile } = await buildOnly(['telemetry', target]);
  const outside = await unbundled(service, metafile);
  await cp(join(root, 'dist/telemetry.cjs'), join(folder, 'telemetry.cjs'));
  const bundle = join(root, serviceBundle(service, build));
  await cp(bundle, join(folder, 'service.cjs'));
  // By the name that the bundle gives it: stack traces name lines of the sources.
  await cp(`${bundle}.map`, join(folder, `${basename(bundle)}.map`));
  if (outside.includes('@grpc/grpc-js')) await cp(join(root, 'proto'), join(folder, 'proto'), { recursive: true });
  await writeFile(join(folder, 'service.env'), imageEnvironment(services.find(({ name }) => name === service)));
  for (const name of outside) await copyPackage(name, join(root, 'services', service));
  console.log(
    `${service}: a ${build} build, ${copied.size} packages beside the bundle (${outside.join(', ')} and what they need)`,
  );
}

/**
 * Packages a service needs at run time that its bundle does not hold. That is what the bundle imports, and what its
 * package.json names but no file of the bundle comes from (loaded by `require`).
 */
async function unbundled(name, { inputs, outputs }) {
  const imported = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    // What else is external are Node's own modules, and extras that a package looks for and does without.
    .filter(({ external, path }) => external && outsideServices.includes(path))
    .map(({ path }) => path);
  const manifest = JSON.parse(await readFile(join(root, `services/${name}/package.json`), 'utf8'));
  const named = Object.keys(manifest.dependencies).filter((dependency) => !dependency.startsWith('@shop/'));
  const absent = named.filter(
    (dependency) => !Object.keys(inputs).some((file) => file.includes(`node_modules/${dependency}/`)),
  );
  return [...new Set([...imported, ...absent])].sort();
}

/** Copies a package as it is found from a folder, and then what it depends on, each at its own place in the tree. */
async function copyPackage(name, from) {
  const source = find(name, from);
  if (source === undefined) throw new Error(`${name} is not installed (needed from ${relative(root, from)})`);
  if (copied.has(source)) return;
  copied.add(source);
  // A workspace's own node_modules folder becomes the image's only one.
  const place = relative(root, source).replace(/^(kit|services\/[^/]+)\/node_modules/, 'node_modules');
  await cp(source, join(folder, place), { recursive: true, filter: isNeeded });
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  );
  const isAbsent = (one) => one in optionalDependencies && find(one, source) === undefined;
  const needed = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (one) => !one.startsWith('@types/') && !isAbsent(one),
  );
  for (const one of needed) await copyPackage(one, source);
}

/** The folder in which Node would find a package; undefined when it is not installed. */
function find(name, from) {
  for (let at = from; at.startsWith(root); at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  return undefined;
}

/** Nested packages have their own turn; types, maps and pages are for people. */
function isNeeded(path) {
  return basename(path) !== 'node_modules' && !/\.(map|md|markdown|d\.[cm]?ts)$/.test(path);
}
