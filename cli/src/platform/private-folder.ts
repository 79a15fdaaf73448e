import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../errors.ts';

/** Makes a folder (0700), or throws CliError (3) when it exists and another user owns it or may read it. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (((await modeOfOwn(folder)) & 0o077) === 0) return;
  throw new CliError({
    code: 'folder_not_private',
    what: `${folder} is open to other users`,
    why: 'the control socket must not be reachable by others',
    next: `run "chmod 700 ${folder}"`,
  });
}

/**
 * Throws CliError (3) when another user owns the socket or its folder, or may write there: that user's process could
 * pose as the supervisor and would receive passwords. A socket that does not exist is accepted.
 */
export async function requireOwnSocket(socket: string): Promise<void> {
  try {
    const folder = dirname(socket);
    if (((await modeOfOwn(folder)) & 0o022) !== 0) throw notOurs(folder, 'other users can write there');
    await modeOfOwn(socket);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function modeOfOwn(path: string): Promise<number> {
  const { uid, mode } = await lstat(path);
  if (uid !== process.getuid?.()) throw notOurs(path, `it belongs to the user with id ${uid}`);
  return mode;
}

function notOurs(path: string, why: string): CliError {
  return new CliError({
    code: 'folder_not_private',
    what: `the control socket cannot be trusted: ${path} is not only this user's`,
    why,
    next: 'run shopctl as the user who started the platform, or name a folder of your own in SHOPCTL_HOME',
  });
}
