import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath, newestFirst } from '../../cli/src/providers/executables.ts';
import { sharedCacheDir } from '../../cli/src/providers/testing.ts';

const found =
  process.env.PROMTOOL ??
  (await findOnPath('promtool', process.env)) ??
  (await newestFirst(join(sharedCacheDir(), 'prometheus-*/**/promtool')))[0];

/** Why rules are not tested here; undefined where they are. Said once, because the tests it skips do not say it. */
export const noPromtool =
  found === undefined ? 'promtool is neither installed nor in the cache: rules are not run' : undefined;
if (noPromtool !== undefined) console.warn(noPromtool);

/** What a run of promtool printed, also where it found something wrong. Throws where it could not run. */
export async function promtool(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  if (found === undefined) throw new Error(noPromtool);
  try {
    const { stdout, stderr } = await promisify(execFile)(found, [...args], { cwd, maxBuffer: 64 << 20 });
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { ok: false, text: `${stdout}${stderr}` };
  }
}
