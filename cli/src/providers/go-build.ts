import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ComponentContext, OnProgress } from './component.ts';
import { findOnPath } from './executables.ts';

export interface GoProgram {
  /** What people call it. */
  readonly title: string;
  /** Import path of its main package. */
  readonly packagePath: string;
  /** "v2.12.0": the module proxy and checksum database answer for its content. */
  readonly version: string;
  /** Where the finished program goes. */
  readonly target: string;
}

/** A large program takes minutes on a small machine. */
const BUILD_TIMEOUT_MS = 30 * 60_000;

/**
 * Builds a program with `go install` and puts it at `target` in one step. Sources and build cache are in a folder that
 * is removed afterwards: nothing reaches the user's own Go folders.
 */
export async function buildGoProgram(
  program: GoProgram,
  { cacheDir, env }: Pick<ComponentContext, 'cacheDir' | 'env'>,
  onProgress: OnProgress,
): Promise<void> {
  const go = await findOnPath('go', env);
  if (go === undefined) throw new Error(`${program.title}: building it needs Go, and there is no "go" on PATH`);
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(cacheDir, 'go-'));
  try {
    onProgress(`building ${program.title} ${program.version} with Go (its modules are downloaded first)`);
    const bin = join(draft, 'bin');
    await install(go, program, {
      ...env,
      GOPATH: join(draft, 'path'),
      GOBIN: bin,
      GOCACHE: join(draft, 'cache'),
      GOFLAGS: '-modcacherw',
    });
    await mkdir(dirname(program.target), { recursive: true, mode: 0o700 });
    await rename(join(bin, program.packagePath.split('/').at(-1) ?? ''), program.target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function install(go: string, { title, packagePath, version }: GoProgram, env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await promisify(execFile)(go, ['install', `${packagePath}@${version}`], {
      env,
      timeout: BUILD_TIMEOUT_MS,
      maxBuffer: 16 << 20,
    });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    throw new Error(`${title} ${version} could not be built: ${stderr.trim().slice(-1_000) || message}`, { cause });
  }
}
