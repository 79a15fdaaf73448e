/** Programs of the command line in a bundle, as `shopctl` starts them: from source each start takes 0.5 s of CPU, from a bundle 0.1 s. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { cloneRoot } from '../../cli/src/platform/project.ts';

export interface CliBundle extends AsyncDisposable {
  /** To be started with `env`. */
  readonly file: string;
  /** Compiled code is kept, for each further start. */
  readonly env: { readonly NODE_COMPILE_CACHE: string };
}

/** What this needs of scripts/build.mjs. */
interface Builder extends Readonly<Record<'common' | 'cliOptions', BuildOptions>> {
  staleNames(): Promise<readonly string[]>;
}

/**
 * The program at `path`, relative to the clone: the one of dist/ where that is as new as its sources, otherwise a bundle with the
 * options of the real one.
 */
export async function bundleCli(path: string): Promise<CliBundle> {
  const root = cloneRoot();
  const script = pathToFileURL(join(root, 'scripts/build.mjs')).href;
  const { common, cliOptions, staleNames } = (await import(script)) as Builder;
  // Below the clone, where it finds its packages.
  const folder = await mkdtemp(join(root, 'node_modules/.cli-bundle-'));
  const name = basename(path).replace(/\.ts$/, '.mjs');
  const built = join(root, 'dist/cli', name);
  const isThere = existsSync(built) && !(await staleNames()).includes('cli');
  if (!isThere) await build({ ...common, ...cliOptions, write: true, entryPoints: [join(root, path)], outdir: folder });
  return {
    file: isThere ? built : join(folder, name),
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled') },
    // The last process writes what it compiled when it has ended otherwise.
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, maxRetries: 10 }),
  };
}
