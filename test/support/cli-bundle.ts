/** Programs of the command line in a bundle, as `shopctl` starts them: from source each start takes 0.5 s of CPU, from a bundle 0.1 s. */
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

/** Bundles the program at `path`, relative to the clone, with the options of the real one. */
export async function bundleCli(path: string): Promise<CliBundle> {
  const root = cloneRoot();
  const script = pathToFileURL(join(root, 'scripts/build.mjs')).href;
  const { common, cliOptions } = (await import(script)) as Readonly<Record<'common' | 'cliOptions', BuildOptions>>;
  // Below the clone, where it finds its packages.
  const folder = await mkdtemp(join(root, 'node_modules/.cli-bundle-'));
  await build({ ...common, ...cliOptions, write: true, entryPoints: [join(root, path)], outdir: folder });
  return {
    file: join(folder, basename(path).replace(/\.ts$/, '.mjs')),
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled') },
    // The last process writes what it compiled when it has ended otherwise.
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, maxRetries: 10 }),
  };
}
