import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import type { Availability } from './component.ts';
import { isExecutable } from './executables.ts';
import { writePrivateFile } from './private-file.ts';
import { available, unavailable } from './provider-checks.ts';

/** Where the checksum of a program in the cache is kept, as `sha256sum` writes it. */
const recordOf = (program: string) => `${program}.sha256`;

/** SHA-256 of a file, in hex. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Keeps the checksum of a program that was just downloaded, copied or built. */
export async function recordProgram(program: string, sha256: string): Promise<void> {
  await writePrivateFile(recordOf(program), `${sha256}  ${program}\n`);
}

/**
 * The `cache` way: a program is used only while it is what was installed. It finds what a full disk, a crash or another
 * program has damaged; who may write to the cache could write the record too. One of an older version has no record: it
 * gets one, and is used.
 */
export async function checkCached(program: string): Promise<Availability> {
  if (!(await isExecutable(program))) return unavailable('cache', 'neither downloaded nor built on this machine yet');
  const found = await sha256Of(program);
  const recorded = await readFile(recordOf(program), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw new Error(`${recordOf(program)}: ${messageOf(error)}`);
    return undefined;
  });
  if (recorded === undefined) {
    await recordProgram(program, found);
    return available('cache', program);
  }
  if (recorded.startsWith(found)) return available('cache', program);
  return unavailable(
    'cache',
    `${program} is not what was installed: its checksum has changed; "shopctl setup" replaces it`,
  );
}
