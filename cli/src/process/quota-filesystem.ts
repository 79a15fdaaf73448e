import { mkdir, open, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/unless.ts';
import { runProgram } from './run-program.ts';

const MOUNT_LIMIT_MS = 5_000;
/** Enough for what an empty tablespace and index take. */
const SIZE = '1m';
/** mount(2): "CAP_SYS_ADMIN is required"; its number is in capabilities(7). */
const CAP_SYS_ADMIN = 21n;
const BALLAST = 'ballast';

/** Why no small file system can be mounted here; undefined when it can. */
export async function mountObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'a small file system in memory (tmpfs) is a thing of Linux';
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const mayMount = ((BigInt(`0x${effective}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
  return mayMount ? undefined : 'only root may mount a small file system, and the platform does not run as root';
}

/** Mounts an empty file system of 1 MB, in memory, for this user; the folder is made. */
export async function mountQuotaFilesystem(path: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const options = `size=${SIZE},mode=0700,uid=${uid},gid=${gid},nosuid,nodev,noexec`;
  await runProgram('mount', ['-t', 'tmpfs', '-o', options, 'shopctl', path], { timeoutMs: MOUNT_LIMIT_MS });
}

/** Writes until the file system refuses (ENOSPC). Resolves with the bytes that are free then. */
export async function fillDisk(path: string): Promise<void> {
  const ballast = await open(join(path, BALLAST), 'a', 0o600);
  try {
    for (const size of [65_536, 4_096]) await writeUntilFull(ballast, Buffer.alloc(size));
  } finally {
    await ballast.close();
  }
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Unmounts it and removes the folder; one that is gone is what was wanted. */
export async function unmountQuotaFilesystem(path: string): Promise<void> {
  if ((await mountsBelow(path)).includes(path)) await runProgram('umount', [path], { timeoutMs: MOUNT_LIMIT_MS });
  await rmdir(path).catch(unless('ENOENT'));
}

/** Small file systems at or below a folder, as the kernel lists them (proc_pid_mountinfo(5)). */
export async function mountsBelow(folder: string): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const points = lines.map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point === folder || point.startsWith(`${folder}/`));
}
