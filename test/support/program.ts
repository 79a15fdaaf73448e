import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/** A JSON line on a program's standard output. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** A module in a separate process. */
export interface Program extends AsyncDisposable {
  /** The records written so far. */
  records(): readonly LogRecord[];
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
}

const END_MS = 5_000;

/** For the source of a program: the module at `path`, relative to the clone. */
export function moduleAt(path: string): string {
  return JSON.stringify(pathToFileURL(`${cloneRoot()}/${path}`).href);
}

/**
 * Runs `source`, an ES module of TypeScript, as a program with `preload` (a path in the clone) run before it. It inherits
 * the descriptors `inherits` as 3 and those that follow.
 */
export function startProgram(
  source: string,
  options: { preload?: string; inherits?: readonly number[] } = {},
): Program {
  const preload = options.preload === undefined ? [] : ['--import', JSON.parse(moduleAt(options.preload)) as string];
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('OTEL_'));
  // What the first one has compiled and stripped of its types serves the others: a quarter of the CPU time of a start.
  const env = {
    ...Object.fromEntries(own),
    NODE_COMPILE_CACHE: join(cloneRoot(), 'node_modules/.cache/test-programs'),
  };
  const child = spawn(process.execPath, [...preload, '--input-type=module-typescript', '--eval', source], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.inherits ?? [])],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const errors = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]) => ({ code: code as number | null, errors: await errors }));
  return {
    records() {
      const lines = output.slice(0, output.lastIndexOf('\n') + 1).split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogRecord);
    },
    kill: (signal) => void child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if ((await Promise.race([ended, delay(END_MS, 'late', { ref: false })])) === 'late') child.kill('SIGKILL');
      await ended;
    },
  };
}
