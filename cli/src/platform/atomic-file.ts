import { rename, writeFile } from 'node:fs/promises';

let sequence = 0;

/** Replaces a file in one step (0600): a reader, or a crash, sees the old content or the new one, never a part. */
export async function writeFileAtomically(file: string, content: string): Promise<void> {
  sequence += 1;
  const temporary = `${file}.${process.pid}.${sequence}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, file);
}
