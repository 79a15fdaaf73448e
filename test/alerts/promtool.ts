import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findTool } from '../../cli/src/providers/resolve-tool.ts';
import { aContext, sharedCacheDir } from '../../cli/src/providers/testing.ts';
import { havePrometheus } from '../support/prometheus.ts';

const found = await find();

/** Where it is not, why not was printed: what needs it is skipped. */
export const hasPromtool = found !== undefined;

async function find(): Promise<string | undefined> {
  if (!(await havePrometheus())) return undefined;
  await using context = await aContext({ cacheDir: sharedCacheDir() });
  return findTool('promtool', context);
}

/** What a run of promtool printed, also where it found something wrong. Throws where it could not run. */
export async function promtool(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  if (found === undefined) throw new Error('there is no promtool');
  try {
    const { stdout, stderr } = await promisify(execFile)(found, [...args], { cwd, maxBuffer: 64 << 20 });
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { ok: false, text: `${stdout}${stderr}` };
  }
}
