/*
 * Goal: the first command of a newcomer works: `npm start` in a fresh clone, and nothing is left after `down`.
 * Method: a clone of the last commit, the npm of the machine (its packages come from the cache where they are there), and
 * none of the variables of this run.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { type Guard, guardMark, guardProcess, startGuard } from '../support/guard.ts';
import { openShell } from './support/cli-run.ts';

const execute = promisify(execFile);
/** An install, builds and a platform, beside three other platforms. */
const LIMIT_MS = 400_000;

const isClone = existsSync(join(cloneRoot(), '.git'));
if (!isClone) console.warn('skipped: this is not a clone that could be cloned again');

let folder: string;
let clone: string;
let guard: Guard;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-contact-'));
  guard = startGuard(folder);
  clone = join(folder, 'clone');
  if (isClone) await execute('git', ['clone', '--quiet', '--no-hardlinks', cloneRoot(), clone]);
});
afterAll(() => guard?.[Symbol.asyncDispose]());

/** As a terminal of the machine has it: without the Node and the programs of this clone, and what npm sets for its scripts. */
function terminal(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(
    ([name]) => !/^(SHOPCTL_|NODE_|VITEST|TEST_|npm_(?!config_))/.test(name),
  );
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.startsWith(cloneRoot()));
  return {
    ...Object.fromEntries(others),
    ...guardMark(folder),
    PATH: path.join(delimiter),
    npm_config_prefer_offline: 'true',
  };
}

/** Resolves with the exit code and all that was printed. */
async function run(command: string, ...args: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(command, args, {
    cwd: clone,
    env: terminal(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  using _guarded = guardProcess(folder, args.join('-'), child);
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.push(String(data)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said: said.join('') };
}

it.runIf(isClone)(
  'npm start succeeds without a word of failure, and down leaves nothing',
  async () => {
    const started = await run('npm', 'start');
    expect(started.code, started.said).toBe(0);
    expect(started.said).toContain('The platform is running.');
    expect(started.said.split('\n').filter((line) => /failed|error|not installed/i.test(line))).toEqual([]);
    const stopped = await run('npx', 'shopctl', 'down', '--volumes');
    expect(stopped.code, stopped.said).toBe(0);
    const { processes } = await openShell({ root: clone, home: join(clone, '.shop') });
    expect(processes()).toEqual([]);
  },
  LIMIT_MS,
);
