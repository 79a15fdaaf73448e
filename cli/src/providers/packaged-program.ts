import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { complaintOf, runProgram } from '../process/run-program.ts';
import { Apt, hasApt } from './apt.ts';
import type { ComponentContext, Provider } from './component.ts';
import { isExecutable } from './executables.ts';
import { available, installable, unavailable } from './provider-checks.ts';

/** Programs of a package of Debian and its relatives that need no library which a minimal system lacks. */
export interface PackagedProgram {
  /** "prometheus". */
  readonly package: string;
  /** Path of the program in it, "usr/bin/prometheus". */
  readonly program: string;
  /** Shows that it runs here, like `--version`. */
  readonly check: readonly string[];
  /** How much is downloaded: "19 MB". */
  readonly size: string;
}

type Context = Pick<ComponentContext, 'cacheDir' | 'env'>;

const VERSION_LIMIT_MS = 30_000;

/** Where the program is once its package was unpacked; nothing of it is installed, registered or started by the system. */
export function unpackedFile({ package: name, program }: PackagedProgram, { cacheDir }: Pick<Context, 'cacheDir'>) {
  return join(folderOf(name, cacheDir), program);
}

/** The `packages` way: apt downloads the package and checks its signature; an ordinary user unpacks it into the cache. */
export function packagedSource(
  packaged: PackagedProgram,
  context: Context,
): Required<Pick<Provider, 'check' | 'install'>> & { readonly kind: 'packages' } {
  const file = unpackedFile(packaged, context);
  return {
    kind: 'packages',
    async check() {
      if (await isExecutable(file)) return available('packages', file);
      if (await hasApt(context.env))
        return installable('packages', `can be unpacked from an apt package without root (${packaged.size})`);
      return unavailable('packages', 'no apt here');
    },
    install: (onProgress, signal) => unpack(packaged, context, onProgress, signal),
  };
}

async function unpack(
  { package: name, program, check, size }: PackagedProgram,
  { cacheDir, env }: Context,
  onProgress: (message: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(cacheDir, `${name}-draft-`));
  try {
    const apt = new Apt({ cacheDir, env }, signal);
    const names = await apt.packages(name, () => false, onProgress);
    onProgress(`downloading the package ${name} (${size})`);
    const root = await apt.unpack(names, draft, onProgress);
    await runProgram(join(root, program), check, { env, timeoutMs: VERSION_LIMIT_MS, signal }).catch((cause) => {
      signal?.throwIfAborted();
      throw new Error(`${program} of the package ${name} does not run here: ${complaintOf(cause)}`, { cause });
    });
    await rename(root, folderOf(name, cacheDir));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function folderOf(name: string, cacheDir: string): string {
  return join(cacheDir, `${name}-package`);
}
