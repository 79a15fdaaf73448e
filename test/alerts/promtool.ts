import { execFile } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readVersion } from '../../cli/src/providers/prometheus/version.ts';
import { findTool } from '../../cli/src/providers/resolve-tool.ts';
import { aContext, sharedCacheDir } from '../../cli/src/providers/testing.ts';
import { havePrometheus } from '../support/prometheus.ts';

/** Prometheus and promtool of one version. */
export interface Programs {
  readonly version: string;
  readonly prometheus: string;
  readonly promtool: string;
}

/** The one that shopctl takes, then those in the folders of `PROMETHEUS_FOLDERS`, as a release or a build leaves them. */
export const versions: readonly Programs[] = await find();

/** Where it is not, why not was printed: what needs it is skipped. */
export const hasPromtool = versions.length > 0;

async function find(): Promise<readonly Programs[]> {
  const { PROMETHEUS_FOLDERS = '' } = process.env;
  const folders = PROMETHEUS_FOLDERS.split(delimiter).filter((folder) => folder !== '');
  const own = await ownPromtool();
  const files = [...(own === undefined ? [] : [own]), ...folders.map((folder) => join(folder, 'promtool'))];
  return Promise.all(
    files.map(async (promtool) => ({
      // A build with Go says none.
      version: (await readVersion(promtool, process.env)) ?? '',
      prometheus: join(dirname(promtool), 'prometheus'),
      promtool,
    })),
  );
}

async function ownPromtool(): Promise<string | undefined> {
  if (!(await havePrometheus())) return undefined;
  await using context = await aContext({ cacheDir: sharedCacheDir() });
  return await findTool('promtool', context);
}

/** What a run of promtool printed, also where it found something wrong. Throws where it could not run. */
export async function promtool(
  args: readonly string[],
  cwd: string,
  programs: Pick<Programs, 'promtool'> | undefined = versions[0],
): Promise<{ readonly ok: boolean; readonly text: string }> {
  if (programs === undefined) throw new Error('there is no promtool');
  try {
    const { stdout, stderr } = await promisify(execFile)(programs.promtool, [...args], { cwd, maxBuffer: 64 << 20 });
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { ok: false, text: `${stdout}${stderr}` };
  }
}
