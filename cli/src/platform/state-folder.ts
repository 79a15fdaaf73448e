import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError, messageOf } from '../errors.ts';

/** Makes a folder of a project's state, and those above it, for its user only. Throws CliError (3) where it cannot be. */
export async function makeStateFolder(folder: string): Promise<void> {
  try {
    await makeAll(folder);
    // One that is there already may be read-only.
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new CliError({
      code: 'folder_unusable',
      what: `the platform cannot keep its state in ${folder}`,
      why: messageOf(cause),
      next: 'make that place writable, or name another folder in SHOPCTL_HOME',
      cause,
    });
  }
}

/** One after the other: `recursive: true` tries for ever where a file system takes no folders (/proc). */
async function makeAll(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  await makeAll(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another command may have made it meanwhile.
    if (!(await isFolder(folder))) throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // What cannot be looked at cannot be made either: `mkdir` says why.
  );
}
