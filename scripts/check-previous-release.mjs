#!/usr/bin/env node
/**
 * Checks that the last release and this one can run side by side on one schema, as they do during a rolling update. The
 * released code passes its tests of the services on today's migrations, and today's code on the released ones. An order that one
 * of them began is ended by the other one.
 *
 * Usage: npm run contracts:previous -- [service...]   (default: all that have a database) The last release is the last
 * entry of releases.json. Exit code 1: a test failed, or there is no release to compare with; 2: wrong usage. Committed
 * files only. Needs what `npm test` needs, its Node included, which npm's script chooses.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseNames } from '../cli/src/topology/databases.ts';
import { ensureCommit, readReleases } from './releases.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const known = databaseNames;
const say = (text) => console.error(text);

const wanted = process.argv.slice(2);
const wrong = wanted.find((name) => !known.includes(name));
if (wrong !== undefined) {
  say(`"${wrong}" has no database; choose of ${known.join(', ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'shop-releases-'));
// The trees are removed also when this is interrupted.
process.once('SIGINT', () => void leave(130));
process.once('SIGTERM', () => void leave(143));
let child;
let services = wanted.length > 0 ? wanted : known;

try {
  const release = readReleases(root).at(-1);
  ensureCommit(root, release);
  const released = await checkOut(release.commit);
  const isNew = (name) => !existsSync(join(released, 'services', name));
  for (const name of services.filter(isNew)) say(`${name} is new since ${release.version}: nothing to compare with`);
  services = services.filter((name) => !isNew(name));
  if (services.length === 0) throw new Error(`${release.version} has none of these services`);
  const today = await checkOut('HEAD');
  await exchangeMigrations(released, today);
  await test(released, `the code of ${release.version} on today's schema`);
  await test(today, `today's code on the schema of ${release.version}`);
  if (services.includes('orders')) {
    await exchangeMigrations(released, today);
    process.env.PREVIOUS_RELEASE_TREE = released;
    await test(today, `orders of ${release.version} and of today on one database`, ['test/previous']);
  }
  say(`${release.version} and this commit can run side by side: ${services.join(', ')}`);
  await leave(0);
} catch (error) {
  say(error.message);
  await leave(1);
}

/** A separate tree with the commit's files and the dependencies it asks for. */
async function checkOut(commit) {
  const tree = join(folder, commit);
  await mkdir(tree);
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', tree], { input: archive });
  const lock = (place) => readFileSync(join(place, 'package-lock.json'), 'utf8');
  if (existsSync(join(root, 'node_modules')) && lock(tree) === lock(root)) await linkDependencies(tree);
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: tree, stdio: 'inherit' });
  return tree;
}

/** Everything that is installed here, but for our own packages, which are those of the tree. */
async function linkDependencies(tree) {
  const installed = join(root, 'node_modules');
  const modules = join(tree, 'node_modules');
  await mkdir(join(modules, '@shop'), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name === '@shop' || name === 'shopctl' || name === '.cache' || name === '.vite') continue;
    await symlink(join(installed, name), join(modules, name));
  }
  const services = (await readdir(join(tree, 'services'))).map((name) => `services/${name}`);
  for (const workspace of ['kit', ...services]) {
    await symlink(join(tree, workspace), join(modules, '@shop', basename(workspace)));
    // Where a package of ours needs another version than the others.
    const own = join(root, workspace, 'node_modules');
    if (existsSync(own)) await symlink(own, join(tree, workspace, 'node_modules'));
  }
}

async function exchangeMigrations(one, other) {
  const migrations = (tree) => join(tree, 'migrations');
  const kept = join(folder, 'migrations');
  await cp(migrations(one), kept, { recursive: true });
  await rm(migrations(one), { recursive: true });
  await cp(migrations(other), migrations(one), { recursive: true });
  await rm(migrations(other), { recursive: true });
  await cp(kept, migrations(other), { recursive: true });
  await rm(kept, { recursive: true });
}

/** Runs tests, by default those of the services with a database. Rejects when one fails. */
async function test(tree, what, files = services.flatMap((name) => testsOf(name, tree, what))) {
  say(`== ${what}`);
  const vitest = join(tree, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--root', tree, '--project', 'units*', ...files];
  const code = await new Promise((resolve, reject) => {
    child = spawn(process.execPath, args, { cwd: tree, stdio: 'inherit' });
    child.once('error', reject).once('exit', (status) => resolve(status));
  });
  child = undefined;
  if (code !== 0) {
    throw new Error(`${what}: its tests fail; expand the schema first, and contract it in a later release`);
  }
}

/** Throws where a service has none: vitest would run the others, and this would say that all can run side by side. */
function testsOf(name, tree, what) {
  const files = globSync(`services/${name}/src/**/*.integration.test.ts`, { cwd: tree });
  if (files.length > 0) return files;
  throw new Error(`${what}: ${name} has no test with a database (services/${name}/src/**/*.integration.test.ts)`);
}

async function leave(code) {
  child?.kill('SIGTERM');
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}
