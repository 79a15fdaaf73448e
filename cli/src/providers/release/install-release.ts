import { lstat, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { runProgram } from '../../process/run-program.ts';
import type { ComponentContext, OnProgress } from '../component.ts';
import { requireOnPath } from '../executables.ts';
import { installPrograms, type MadeProgram } from '../install-program.ts';
import { listedChecksum } from './checksum-list.ts';
import { type DownloadLimits, download } from './download.ts';
import { type Release, type ReleaseFile, releaseFileFor } from './release.ts';
import { releaseHost } from './release-host.ts';

/** The largest of them, that of Prometheus, has about 130 MB. */
const MAX_ARCHIVE_BYTES = 256 << 20;
const MAX_LIST_BYTES = 1 << 20;
const UNPACK_LIMIT_MS = 120_000;

export interface ReleaseInstallation {
  readonly release: Release;
  /** Where the program goes. */
  readonly target: string;
  readonly context: Pick<ComponentContext, 'cacheDir' | 'env'>;
  readonly onProgress: OnProgress;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: DownloadLimits;
}

/**
 * Downloads a release for this machine, compares its checksum, unpacks it and puts the program at `target` in one step.
 * Whatever fails, or ends it, leaves nothing there; what a killed process left of its draft is removed by the next one.
 * Not for two concurrent callers with one target: `installFirst` prevents that. Throws with what is wrong and what to
 * do.
 */
export async function installRelease(installation: ReleaseInstallation): Promise<void> {
  const { release, target, context } = installation;
  const file = releaseFileFor(release);
  if (file === undefined) throw new Error(`${release.title}: no release for ${process.platform} on ${process.arch}`);
  await installPrograms(join(context.cacheDir, `release-${basename(target)}`), async (draft) => {
    const archive = await fetchVerified(file, draft, installation);
    return unpack(archive, file, draft, installation);
  });
}

async function fetchVerified(file: ReleaseFile, draft: string, installation: ReleaseInstallation): Promise<string> {
  const expected = file.sha256 ?? (await publishedChecksum(file, draft, installation));
  const archive = join(draft, 'archive');
  const actual = await fetchFile(file.name, archive, MAX_ARCHIVE_BYTES, installation);
  if (actual === expected) return archive;
  const source = file.sha256 === undefined ? `the release's list has ${expected}` : `${expected} is pinned`;
  throw new Error(
    `${file.name} has the SHA-256 ${actual}, and ${source}: what ${releaseHost(installation.context.env).host} sent was not kept`,
  );
}

async function publishedChecksum(file: ReleaseFile, draft: string, installation: ReleaseInstallation): Promise<string> {
  const { checksumList, title, version } = installation.release;
  if (checksumList === undefined)
    throw new Error(`${title} ${version}: ${file.name} has no checksum, and is not taken`);
  const list = join(draft, 'checksums');
  await fetchFile(checksumList, list, MAX_LIST_BYTES, installation);
  const sha256 = listedChecksum(await readFile(list, 'utf8'), file.name);
  if (sha256 !== undefined) return sha256;
  throw new Error(`${title} ${version}: ${checksumList} of the release does not have ${file.name}, which is not taken`);
}

/** Resolves with the SHA-256 of what is at `target` then. */
async function fetchFile(
  name: string,
  target: string,
  maxBytes: number,
  { release: { title, version, folder }, context: { env }, onProgress, signal, limits }: ReleaseInstallation,
): Promise<string> {
  const host = releaseHost(env);
  onProgress(`downloading ${name} from ${host.host}`);
  const onPercent = (percent: number) => onProgress(`downloading ${name} from ${host.host}: ${percent} %`);
  try {
    return await download({ url: new URL(`${folder}${name}`, host), target, maxBytes, env, signal, limits, onPercent });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(
      `${title} ${version} was not downloaded from ${host.host}: ${messageOf(cause)}; behind a proxy set HTTPS_PROXY, with a mirror of github.com SHOPCTL_RELEASES_URL`,
      { cause },
    );
  }
}

/** With the system's tar, which on macOS reads zip archives as well. The program itself comes last. */
async function unpack(
  archive: string,
  file: ReleaseFile,
  draft: string,
  { release: { title, version }, target, context: { env }, signal }: ReleaseInstallation,
): Promise<readonly MadeProgram[]> {
  const tar = await requireOnPath('tar', env, `${title}: unpacking it needs tar`);
  const content = join(draft, 'content');
  await mkdir(content);
  const made = [
    ...(file.also ?? []).map((path) => ({ path, target: join(dirname(target), basename(path)) })),
    { path: file.program, target },
  ];
  try {
    await runProgram(tar, ['-xf', archive, '-C', content], {
      env,
      timeoutMs: UNPACK_LIMIT_MS,
      signal,
    });
    for (const { path } of made) {
      if (!(await lstat(join(content, path))).isFile()) throw new Error(`${path} in it is not a program`);
    }
  } catch (cause) {
    throw new Error(`${title} ${version}: ${file.name} could not be unpacked: ${messageOf(cause)}`, { cause });
  }
  return made.map(({ path, target: place }) => ({ file: join(content, path), target: place }));
}
