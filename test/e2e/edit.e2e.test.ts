/*
 * Goal: a saved source runs, and one that does not compile disturbs nothing. Method: `up --watch` in a copy of the
 * repository, whose sources are edited as a developer does; what runs is asked over HTTP.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import { openProject } from '../../cli/src/platform/project.ts';
import { readState } from '../../cli/src/platform/state.ts';
import { pollFor } from '../../cli/src/shared/wait-until.ts';
import { copyBuildInfo, copyBundles, copyTree, linkPackages } from '../support/clone-copy.ts';
import { type Guard, startGuard } from '../support/guard.ts';

const execute = promisify(execFile);
const LIMIT_MS = 240_000;
/** A build and a restart, on a machine that does much else. */
const SAVE_MS = 60_000;
const ROUTES = 'services/catalog/src/main.ts';

interface WatchEvent {
  readonly type: string;
  readonly problem?: string;
  readonly started?: readonly string[];
  readonly applied?: readonly string[];
  readonly error?: { readonly code: string; readonly why: string };
  readonly errors?: readonly { readonly file: string; readonly code: string }[];
}

let copy: string;
let guard: Guard;
let watching: ChildProcess;
let env: NodeJS.ProcessEnv;
const events: WatchEvent[] = [];

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'shop-edit-'));
  await copyTree(copy);
  await linkPackages(copy);
  await copyBuildInfo(copy);
  await copyBundles(copy);
  const shopctl = join(copy, 'cli/bin/shopctl');
  env = { ...process.env, SHOPCTL_HOME: join(copy, '.shop'), SHOPCTL_PROJECT: 'e2e-edit', NO_COLOR: '1' };
  // Removes the copy, too.
  guard = startGuard(copy, [shopctl, 'down', '--volumes'], env);
  watching = spawn(shopctl, ['up', 'catalog', '--direct', '--watch', '--json', '--replicas', 'catalog=2'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: watching.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    events.push(JSON.parse(line) as WatchEvent);
  });
  await until('watching');
}, LIMIT_MS);

afterAll(async () => {
  watching?.kill('SIGKILL');
  await guard?.[Symbol.asyncDispose]();
  await rm(copy, { recursive: true, force: true });
}, LIMIT_MS);

/** The next of its type since the last save. */
async function until(type: string): Promise<WatchEvent> {
  const found = await pollFor(async () => events.find((one) => one.type === type), { everyMs: 20, limitMs: LIMIT_MS });
  if (found === undefined) throw new Error(`no "${type}" after ${JSON.stringify(events)}`);
  return found;
}

async function save(file: string, change: (text: string) => string): Promise<void> {
  events.length = 0;
  const text = await readFile(join(copy, file), 'utf8').catch(() => '');
  const changed = change(text);
  if (changed === text) throw new Error(`${file} does not have what is to be changed`);
  // Into place by one step, as editors do.
  await writeFile(join(copy, `${file}.tmp`), changed);
  await rename(join(copy, `${file}.tmp`), join(copy, file));
}

function state() {
  return readState(openProject('e2e-edit', copy, env).stateFile);
}

/** What each replica of the catalog has logged of its start. */
async function starts(): Promise<readonly string[]> {
  const { logDir } = openProject('e2e-edit', copy, env);
  const logs = ['catalog-1', 'catalog-2'].map((name) => readFile(join(logDir, `${name}.log`), 'utf8'));
  return (await Promise.all(logs)).map((log) => log.match(/"msg":"(listening[^"]*)"/g)?.at(-1) ?? '');
}

/** The command lines of what the copy runs. */
async function running(): Promise<readonly string[]> {
  const { stdout } = await execute('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(copy) && !line.includes('guard'));
}

it('begins with a build of what runs, and of nothing else', async () => {
  const builtAt = async (service: string) => (await stat(join(copy, 'dist/.stamps', service))).mtimeMs;
  expect(await builtAt('catalog')).toBeGreaterThan(await builtAt('orders'));
});

it('a saved source runs in all replicas', { timeout: SAVE_MS }, async () => {
  await save(ROUTES, (text) => text.replace("'listening'", "'listening, edited'"));
  expect((await until('applied')).started).toEqual(['catalog-1', 'catalog-2']);
  expect(await starts()).toEqual(['"msg":"listening, edited"', '"msg":"listening, edited"']);
});

it('one that does not compile is reported with its frame, and what was built before runs on', {
  timeout: SAVE_MS,
}, async () => {
  // Of the supervisor: the file of its state may be a moment behind what has been applied.
  const { state: present } = createControlClient(openProject('e2e-edit', copy, env));
  const pids = async () => (await present()).instances.map(({ process }) => process?.pid);
  const before = await pids();
  await save(ROUTES, (text) => `${text}\nconst broken = ;\n`);
  expect((await until('build_failed')).problem).toMatch(
    /services\/catalog\/src\/main\.ts:\d+:\d+:\n.*const broken = ;/,
  );
  expect(await pids()).toEqual(before);
  await save(ROUTES, (text) => text.replace('\nconst broken = ;\n', ''));
  await until('built');
});

it('an error of types is shown, and does not keep the code from running', { timeout: LIMIT_MS }, async () => {
  await save(ROUTES, (text) => `${text}\nexport const count: number = 'three';\n`);
  await until('applied');
  expect((await until('types')).errors).toMatchObject([{ file: ROUTES, code: 'TS2322' }]);
});

it('a new migration is applied, and refused by its name where it cannot be', { timeout: SAVE_MS }, async () => {
  const file = 'migrations/catalog/0900_notes.sql';
  await save(file, () => 'CREATE TABLE notes (');
  const { error } = await until('refused');
  expect(error?.code).toBe('change_refused');
  expect(error?.why).toContain('0900_notes.sql');
  await save(file, () => 'CREATE TABLE notes (id int PRIMARY KEY);');
  expect((await until('applied')).applied).toEqual(['migration catalog/0900_notes']);
});

it('Ctrl-C ends the watching and the platform that it started, also while new code does not get ready', {
  timeout: SAVE_MS,
}, async () => {
  await save(ROUTES, (text) =>
    text.replace(/^.*= await listenShared\(/m, '  await new Promise(() => setInterval(() => {}, 9_000));\n$&'),
  );
  // A replica has two processes while its successor does not get ready.
  const catalogs = async () => (await running()).filter((line) => line.endsWith('/dist/services/catalog.cjs')).length;
  await expect.poll(catalogs, { timeout: LIMIT_MS }).toBeGreaterThan(2);
  const ended = once(watching, 'exit');
  watching.kill('SIGINT');
  expect((await ended)[0]).toBe(130);
  expect(await state()).toMatchObject({ status: 'stopped' });
  await expect.poll(running, { timeout: 10_000 }).toEqual([]);
});
