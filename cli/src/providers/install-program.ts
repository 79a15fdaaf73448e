import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { recordProgram, sha256Of } from './cached-program.ts';

export interface ProgramPlace {
  /** Where the finished program goes. */
  readonly target: string;
  /** A folder for what is made on the way there, on the same file system. */
  readonly draft: string;
}

/** A program that was made in the draft, and where it goes. */
export interface MadeProgram {
  readonly file: string;
  readonly target: string;
}

/**
 * Puts a program at its place in one step: `make` has the draft, empty, and resolves with the program's path in it.
 * Whatever fails leaves nothing; a draft of the same name that a killed process left is removed before. Not for two
 * concurrent callers with one draft.
 */
export function installProgram(
  { target, draft }: ProgramPlace,
  make: (draft: string) => Promise<string>,
): Promise<void> {
  return installPrograms(draft, async (folder) => [{ file: await make(folder), target }]);
}

/** The same for several that are made together. They are moved in their order: where the last one is, all of them are. */
export async function installPrograms(
  draft: string,
  make: (draft: string) => Promise<readonly MadeProgram[]>,
): Promise<void> {
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    for (const { file, target } of await make(draft)) {
      await chmod(file, 0o755);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await recordProgram(target, await sha256Of(file));
      await rename(file, target);
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
