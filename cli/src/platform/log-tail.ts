import { open } from 'node:fs/promises';

const BLOCK_BYTES = 64 * 1024;

/** The last lines of a file, at most 64 KiB of them; none when the file does not exist. */
export async function tailLines(file: string, count: number): Promise<string[]> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  await using _ = handle;
  const { size } = await handle.stat();
  const from = Math.max(0, size - BLOCK_BYTES);
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - from), position: from });
  const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n');
  // The first line of a block cut out of the middle is not whole.
  if (from > 0) lines.shift();
  return lines.filter((line) => line !== '').slice(-count);
}
