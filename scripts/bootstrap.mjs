#!/usr/bin/env node
/**
 * `npm start`, `npm test` and `npm run test:all` from a fresh clone. Runs under any Node from 20 on: installs the
 * dependencies, then hands over to the Node 24 that came with them.
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pinnedNode = join(root, 'node_modules/node/bin/node');
const testRunner = join(root, 'node_modules/vitest/vitest.mjs');
const say = (text) => console.error(text);

const shopctl = join(root, 'cli/bin/shopctl');

/** Runs a program in our place: same terminal, its exit code, and signals are left to it (Ctrl-C reaches the group). */
function run(command, args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env });
    // Without these listeners Ctrl-C would end this process before the child has ended gracefully.
    const ignore = () => {};
    const pass = () => child.kill('SIGTERM');
    process.on('SIGINT', ignore);
    process.on('SIGTERM', pass);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', pass);
      resolve(code ?? (signal === 'SIGTERM' ? 143 : 130));
    });
  });
}

/** Ends this process with the exit code of the first step that fails. */
async function step(command, args, env) {
  const code = await run(command, args, env);
  if (code !== 0) process.exit(code);
}

/**
 * Why npm has to run for a task, and its command. npm writes node_modules/.package-lock.json at the end of an install, so its
 * time says for which lock it was made.
 */
function whatToInstall(task) {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed) || !existsSync(pinnedNode)) {
    return { command: 'ci', reason: 'there are none yet' };
  }
  if (statSync(installed).mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs) {
    return { command: 'ci', reason: 'package-lock.json is newer than node_modules' };
  }
  // Added to what there is: a platform may be running from it.
  if (task !== 'start' && !existsSync(testRunner)) return { command: 'install', reason: 'those of the tests' };
  return undefined;
}

/** The npm that started us, or the one on the PATH. */
function npm(...args) {
  const own = process.env.npm_execpath;
  return own?.endsWith('.js') ? run(process.execPath, [own, ...args]) : run('npm', args);
}

/** A build that setup would have to wait for; resolves when it has ended, and ends with us. */
function buildToxiproxyEarly() {
  const early = spawn(process.execPath, [join(root, 'scripts/early-toxiproxy.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.once('exit', () => early.kill('SIGTERM'));
  return new Promise((resolve) => early.once('error', resolve).once('exit', resolve));
}

async function install(task, { command, reason }) {
  say(`Installing the dependencies into node_modules (${reason}): npm ${command}, up to a minute.`);
  // Not the workspace instrumentation/, whose 95 packages only one option of `up` needs.
  const workspaces = ['kit', 'services', 'cli'].flatMap((folder) => ['--workspace', folder]);
  // What tests, checks and benchmarks need is two thirds of all. Who has it, keeps it.
  const less = task === 'start' && !existsSync(testRunner) ? ['--omit=dev'] : [];
  // What is added has no script to run, and what is there has been built.
  const more = command === 'install' ? ['--no-save', '--ignore-scripts'] : [];
  // Warnings about engines are about the Node that is replaced here.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const code = await npm(command, ...less, ...more, ...quiet, '--include-workspace-root', ...workspaces);
  if (code !== 0) process.exit(code);
}

/** Everything from here on needs Node 24. Never returns when this is another one. */
async function continueUnderPinnedNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return;
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exit(await run(pinnedNode, args));
}

async function build() {
  const { buildIfStale } = await import('./build.mjs');
  const began = Date.now();
  const { built } = await buildIfStale();
  if (built.length > 0) say(`Built ${built.join(', ')} in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
}

async function start() {
  await step(shopctl, ['setup', '--yes']);
  await step(shopctl, ['up']);
  await step(shopctl, ['order']);
  await step(shopctl, ['verify']);
  say(
    [
      '',
      'The platform is running. Next:',
      '  npx shopctl status    what runs where',
      '  npx shopctl order     place another order and see its trace',
      '  npx shopctl counters  the metrics, live',
      '  npx shopctl down      stop everything',
    ].join('\n'),
  );
}

/** The environment of Vitest: `tier` is that of vitest.config.ts, undefined for any file. With a `part` its report is named after it. */
function vitestEnv(tier, part) {
  const { TEST_REPORTS: reports, ...env } = process.env;
  const path = `${join(root, 'node_modules/.bin')}:${dirname(pinnedNode)}:${env.PATH}`;
  const report = reports && part && { TEST_REPORT: join(reports, `${part}.json`) };
  return { ...env, PATH: path, TEST_TIER: tier, ...report };
}

function vitest(tier, args, part) {
  return run(process.execPath, [testRunner, 'run', ...args], vitestEnv(tier, part));
}

/** Whether the arguments select tests: then they come from all files. */
async function selects(args) {
  if (args.length === 0) return false;
  const { parseCLI } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  return filter.length > 0 || options.project !== undefined || options.testNamePattern !== undefined;
}

/** The first tier, or what is selected. */
async function test(args) {
  await step(shopctl, ['setup', '--yes']);
  process.exitCode = await vitest((await selects(args)) ? undefined : 'first', args);
}

/** Projects of Vitest that run together. */
const PARTS = {
  most: ['units', 'units-isolated', 'e2e'],
  alone: ['e2e-alone'],
  background: ['units-background'],
};
const argsOf = (part) => PARTS[part].flatMap((name) => ['--project', name]);

/** Runs a part of all tests at low priority. Resolves to its exit code and what it has printed. */
function inBackground(part) {
  const child = spawn('nice', ['-n', '19', process.execPath, testRunner, 'run', ...argsOf(part)], {
    cwd: root,
    env: vitestEnv('all', part),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    const end = (code, problem = '') => resolve({ code, printed: `${Buffer.concat(chunks)}${problem}` });
    child.once('error', ({ message }) => end(1, message));
    child.once('close', (code) => end(code ?? 1));
  });
}

/** Both tiers: most of them, then those that run alone and, beside these, what only takes the time that they leave (decision 0139). */
async function testAll(args) {
  await step(shopctl, ['setup', '--yes']);
  if (args.length > 0) {
    process.exitCode = await vitest((await selects(args)) ? undefined : 'all', args);
    return;
  }
  let interrupted = 0;
  process.on('SIGINT', () => (interrupted = 130));
  process.on('SIGTERM', () => (interrupted = 143));
  const most = await vitest('all', argsOf('most'), 'most');
  if (interrupted) process.exit(interrupted);
  const background = inBackground('background');
  const alone = await vitest('all', argsOf('alone'), 'alone');
  const { code, printed } = await background;
  console.log(`\n== beside those that run alone\n${printed}`);
  process.exitCode = interrupted || most || alone || code;
}

const [task, ...args] = process.argv.slice(2);
const tasks = { start, test, 'test:all': testAll };
if (!(task in tasks)) {
  say('usage: node scripts/bootstrap.mjs start|test|test:all [arguments of vitest]');
  process.exit(2);
}
try {
  const missing = whatToInstall(task);
  if (missing) {
    const early = missing.command === 'ci' ? buildToxiproxyEarly() : undefined;
    await install(task, missing);
    await early;
  }
  await continueUnderPinnedNode();
  await build();
  await tasks[task](args);
} catch (error) {
  say(`error: ${error.message}`);
  process.exit(1);
}
