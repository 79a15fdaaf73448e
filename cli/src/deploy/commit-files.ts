import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram } from '../process/run-program.ts';

/** Writes these paths of a commit of the clone `from` into the folder `to`. Rejects where the commit has none of one. */
export async function extractCommit(
  commit: string,
  paths: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  // A file: the archive of a commit is larger than what a program's output may have.
  const archive = join(to, '..', `${basename(to)}.tar`);
  try {
    await runProgram('git', ['archive', '--output', archive, commit, '--', ...paths], { cwd: from, signal });
    await runProgram('tar', ['-xf', archive, '-C', to], { signal });
  } finally {
    await rm(archive, { force: true });
  }
}
