import { constants } from 'node:fs';
import { access, glob, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The real path of a program on PATH, or undefined. */
export async function findOnPath(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter((part) => part.startsWith('/'))) {
    const file = join(folder, program);
    if (await isExecutable(file)) return realpath(file);
  }
  return undefined;
}

/** The same; throws with `need` ("k6: unpacking it needs tar") when there is none. */
export async function requireOnPath(command: string, env: NodeJS.ProcessEnv, need: string): Promise<string> {
  const file = await findOnPath(command, env);
  if (file === undefined) throw new Error(`${need}, and there is no "${command}" on PATH`);
  return file;
}

/** True for a regular file that this user may run. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Absent and forbidden are the same to the caller: it cannot be run.
    return false;
  }
}

/** Paths that match, versions in descending order ("erts-14" before "erts-9"). */
export async function newestFirst(pattern: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const path of glob(pattern)) paths.push(path);
  const { compare } = new Intl.Collator('en', { numeric: true });
  return paths.sort((a, b) => compare(b, a));
}
