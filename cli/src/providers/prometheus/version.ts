import { complaintOf, runProgram } from '../../process/run-program.ts';

/** The first with `keep_firing_for`, which the rules use. */
const LEAST = [2, 42] as const;
const VERSION_LIMIT_MS = 3_000;

/** The version of Prometheus or promtool: `2.42.0`; undefined when the program does not say one. */
export async function readVersion(file: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { stdout, stderr } = await runProgram(file, ['--version'], { env, timeoutMs: VERSION_LIMIT_MS }).catch(
    (cause) => {
      throw new Error(`${file} --version: ${complaintOf(cause)}`, { cause });
    },
  );
  return versionIn(`${stdout}\n${stderr}`);
}

/** From `prometheus, version 2.42.0+ds (branch: debian/sid, ...)`. Pure. */
export function versionIn(text: string): string | undefined {
  return /^(?:prometheus|promtool), version (\d+\.\d+\.\d+)/m.exec(text)?.[1];
}

/** Why one that is installed cannot be used; undefined when it can. One that "go install" has built says no version. */
export async function versionObstacle(file: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const version = await readVersion(file, env);
  if (version === undefined) return `${file} does not say its version`;
  return isNewEnough(version) ? undefined : `${file} is version ${version}, and ${LEAST.join('.')} is needed`;
}

/** Pure. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
}
