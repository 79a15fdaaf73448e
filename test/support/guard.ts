/** Ends what was started, also when the process that started it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { killTreeScript } from '../../cli/src/process/kill-tree-script.ts';

/**
 * Waits until standard input closes, which happens also when this process is killed. Then it ends the groups of
 * processes whose leaders are in NAME.pid files of the folder, and on Linux what left them and carries the folder's
 * mark. It runs the program that follows, and removes the folder when that succeeded.
 */
const GUARD = `${killTreeScript}
folder=$1; shift
cat >/dev/null
for file in "$folder"/*.pid; do
  [ -f "$file" ] || continue
  group=$(cat "$file")
  kill -TERM "-$group"
  tries=0
  while kill -0 "-$group" && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  # A backend of PostgreSQL has a separate group, and does not show the mark.
  kill_tree "$group"
done 2>/dev/null
for environ in $(grep -lzFx "SHOPCTL_GUARD=$folder" /proc/[0-9]*/environ 2>/dev/null); do
  kill -KILL "$(basename "$(dirname "$environ")")"
done 2>/dev/null
"$@" >"$folder/guard.log" 2>&1 && rm -rf "$folder"`;

export interface Guard extends AsyncDisposable {
  /** Runs what it is there for now, and removes the folder. Throws with the program's output when that fails. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Guards `folder`, which is removed at the end, and runs `command` before that. */
export function startGuard(
  folder: string,
  command: readonly string[] = ['true'],
  env: NodeJS.ProcessEnv = process.env,
): Guard {
  // A separate session: Ctrl-C first reaches the guarded process, whose end closes the pipe.
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', folder, ...command], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return {
    async [Symbol.asyncDispose]() {
      const code = await endOf(guard);
      if (code === 0) return;
      const output = await readFile(join(folder, 'guard.log'), 'utf8');
      await rm(folder, { recursive: true, force: true });
      throw new Error(`${command.join(' ')} ended with ${code}: ${output}`);
    },
  };
}

/** To be in the environment of what may start daemons, which leave its group: the guard of `folder` ends them as well. */
export function guardMark(folder: string): { readonly SHOPCTL_GUARD: string } {
  return { SHOPCTL_GUARD: folder };
}

/**
 * Has the guard of `folder` end `child`, the leader of a separate group, and all of that group. Dispose it once the
 * child has ended: its number may be another's by then.
 */
export function guardProcess(folder: string, name: string, child: ChildProcess): Disposable {
  const file = join(folder, `${name}.pid`);
  writeFileSync(file, String(child.pid));
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

function endOf(guard: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    guard.once('error', reject).once('close', resolve);
    guard.stdin?.end();
  });
}
