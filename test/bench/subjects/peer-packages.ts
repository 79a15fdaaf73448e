import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The versions that are measured. */
const PACKAGES = {
  '@dbos-inc/dbos-sdk': '5.3.0',
  '@restatedev/restate-sdk': '1.17.2',
  '@restatedev/restate-server': '1.7.12',
} as const;

export interface PeerPackages {
  /** Path of a package's entry module. */
  entryOf(name: keyof typeof PACKAGES): string;
  /** Path of Restate's server program. */
  readonly restateServer: string;
  readonly versions: typeof PACKAGES;
}

/**
 * The peers' packages (about 240 MB, so they are no dependencies of the clone), installed with npm into the cache folder
 * once for each set of versions, without running their install scripts. Rejects with npm's words when they cannot be had.
 */
export async function installPeers(cacheDir: string, say: (line: string) => void): Promise<PeerPackages> {
  const text = JSON.stringify({ private: true, dependencies: PACKAGES });
  const folder = join(cacheDir, `bench-peers-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) await install(folder, text, say);
  const { resolve } = createRequire(join(folder, 'package.json'));
  const platform = `${process.platform}-${process.arch}`;
  return {
    entryOf: (name) => resolve(name),
    restateServer: join(folder, `node_modules/@restatedev/restate-server-${platform}/bin/restate-server`),
    versions: PACKAGES,
  };
}

async function install(folder: string, packageJson: string, say: (line: string) => void): Promise<void> {
  say(`installing ${Object.keys(PACKAGES).join(', ')} into ${folder}`);
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(join(draft, 'package.json'), packageJson);
    // npm chooses versions for the Node it runs under: for this one.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await promisify(execFile)('npm', args, { cwd: draft, env });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
