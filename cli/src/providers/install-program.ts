import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { recordProgram, sha256Of } from './cached-program.ts';

export interface ProgramPlace {
  /** Where the finished program goes. */
  readonly target: string;
  /** A folder for what is made on the way there, on the same file system. */
  readonly draft: string;
}

/**
 * Puts a program at its place in one step: `make` has the draft, empty, and resolves with the program's path in it.
 * Whatever fails leaves nothing; a draft of the same name that a killed process left is removed before. Not for two
 * concurrent callers with one draft.
 */
export async function installProgram(
  { target, draft }: ProgramPlace,
  make: (draft: string) => Promise<string>,
): Promise<void> {
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    const program = await make(draft);
    await chmod(program, 0o755);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await recordProgram(target, await sha256Of(program));
    await rename(program, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
