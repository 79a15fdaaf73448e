import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Apt, hasApt } from './apt.ts';
import type { ComponentContext, OnProgress } from './component.ts';
import { newestFirst } from './executables.ts';
import { available, installable, unavailable } from './provider-checks.ts';
import type { ToolSource } from './tool.ts';

/** Where packages put the variant for programs with threads: Debian's and its relatives', Fedora's, a build of one's own. */
const FOLDERS = ['/usr/lib/*/faketime', '/usr/lib64/faketime', '/usr/lib/faketime', '/usr/local/lib/faketime'];
const LIBRARY = 'libfaketimeMT.so.1';

type Context = Pick<ComponentContext, 'cacheDir' | 'env'>;

/**
 * Ways to have libfaketime, which shifts a process's clock, in the order in which they are tried. The one that
 * SHOPCTL_LIBFAKETIME names is the only one when it is set. Linux only.
 */
export function libfaketimeWays(context: Context): readonly ToolSource[] {
  if (process.platform !== 'linux') return [elsewhere];
  return context.env.SHOPCTL_LIBFAKETIME
    ? [namedSource(context.env.SHOPCTL_LIBFAKETIME)]
    : [systemSource, packagesSource(context)];
}

const elsewhere: ToolSource = {
  kind: 'installed',
  check: async () => unavailable('installed', 'libfaketime is used on Linux only'),
  file: () => Promise.reject(new Error('libfaketime is used on Linux only')),
};

function namedSource(file: string): ToolSource {
  return {
    kind: 'installed',
    check: async () =>
      existsSync(file)
        ? available('installed', `${file} (SHOPCTL_LIBFAKETIME)`)
        : unavailable('installed', `SHOPCTL_LIBFAKETIME names ${file}, which is not there`),
    file: async () => file,
  };
}

const systemSource: ToolSource = {
  kind: 'installed',
  async check() {
    const file = await findIn(FOLDERS);
    if (file !== undefined) return available('installed', file);
    return unavailable(
      'installed',
      'not installed ("sudo apt-get install libfaketime", "sudo dnf install libfaketime")',
    );
  },
  file: async () => found(await findIn(FOLDERS)),
};

/** The distribution's package, unpacked into the cache directory by an ordinary user. */
function packagesSource(context: Context): ToolSource {
  const folder = join(context.cacheDir, 'libfaketime-package');
  const folders = [join(folder, 'usr/lib/*/faketime')];
  return {
    kind: 'packages',
    async check() {
      const file = await findIn(folders);
      if (file !== undefined) return available('packages', file);
      if (await hasApt(context.env))
        return installable('packages', 'can be unpacked from an apt package without root (0.1 MB)');
      return unavailable('packages', 'no apt here');
    },
    file: async () => found(await findIn(folders)),
    install: (onProgress, signal) => unpackLibfaketime(folder, context, onProgress, signal),
  };
}

async function unpackLibfaketime(
  folder: string,
  context: Context,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(context.cacheDir, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(context.cacheDir, 'libfaketime-draft-'));
  try {
    const apt = new Apt(context, signal);
    // It needs the C library alone, which is the machine's.
    const names = await apt.packages('libfaketime', () => false, onProgress);
    const root = await apt.unpack(names, draft, onProgress);
    if ((await findIn([join(root, 'usr/lib/*/faketime')])) === undefined)
      throw new Error(`the package libfaketime has no ${LIBRARY}`);
    await rename(root, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function findIn(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const [file] = await newestFirst(join(folder, LIBRARY));
    if (file !== undefined) return file;
  }
  return undefined;
}

function found(file: string | undefined): string {
  if (file === undefined) throw new Error(`no ${LIBRARY} here`);
  return file;
}
