// Goal: what ends `.ci/run` ends what it has started, also where that is a check that fails beside the tests. Method: the script in an
// empty folder, where its commands are others.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { isAlive } from '../support/processes.ts';

let folder: string;
let run: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-run-'));
});
afterEach(() => {
  // What a failed test has left.
  if (run?.exitCode === null && run.signalCode === null) run.kill('SIGKILL');
  for (const one of started()) if (isAlive(one)) process.kill(one, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const WAITING = ['tests', 'setup'];
const fileOf = (name: string) => join(folder, `${name}.pid`);
/** Those that have begun to wait. */
const started = () =>
  WAITING.map(fileOf)
    .filter((file) => existsSync(file))
    .map((file) => Number(readFileSync(file, 'utf8')))
    .filter((pid) => pid > 0);

function program(path: string, ...lines: readonly string[]): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
}

/** A program that starts another, which waits for a signal. */
const waiting = (name: string) => [`sh -c 'echo $$ >${fileOf(name)}; exec sleep 600'`, 'exit 0'];

beforeEach(() => {
  mkdirSync(join(folder, '.ci'));
  copyFileSync(join(cloneRoot(), '.ci/run'), join(folder, '.ci/run'));
  program('.ci/tests', ...waiting('tests'));
  program('cli/bin/shopctl', ...waiting('setup'));
  for (const name of ['npm', 'node', 'tmux', 'docker']) program(`bin/${name}`);
});

function start(): ChildProcess {
  run = spawn(join(folder, '.ci/run'), {
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return run;
}

const bothToRun = () =>
  eventually('the tests and the setup to run', { withinMs: 20_000 }, () => started().length === WAITING.length);

it.each(['SIGTERM', 'SIGINT'] as const)('ends the tests and the setup beside them by %s', async (signal) => {
  const script = start();
  const ended = once(script, 'exit');
  await bothToRun();
  const both = started();
  script.kill(signal);
  expect(await ended).toEqual([null, signal]);
  await eventually('both to have ended', { withinMs: 5_000 }, () => !both.some(isAlive));
});

it('ends the tests and the setup when a check fails beside them, and says what it said', async () => {
  // `npm run check` fails once both run.
  program(
    'bin/npm',
    '[ "$1" = run ] || exit 0',
    `until [ -e ${fileOf('both')} ]; do sleep 0.05; done`,
    'echo "a.ts: wrong"; exit 1',
  );
  const script = start();
  const said = text(script.stdout as Readable);
  const ended = once(script, 'exit');
  await bothToRun();
  const both = started();
  writeFileSync(fileOf('both'), '');
  expect(await ended).toEqual([1, null]);
  expect((await said).trim().split('\n').slice(-4)).toEqual([
    '== npm run check',
    'a.ts: wrong',
    'ci: failed: npm run check',
    '0 passed, 1 failed, 0 skipped',
  ]);
  await eventually('both to have ended', { withinMs: 5_000 }, () => !both.some(isAlive));
});
