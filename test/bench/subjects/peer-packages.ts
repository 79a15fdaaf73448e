import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The versions that are measured, and a lock file with the checksum of everything they bring. */
const MANIFESTS = join(import.meta.dirname, 'peers');
const FILES = ['package.json', 'package-lock.json'];

type PeerName = '@dbos-inc/dbos-sdk' | '@restatedev/restate-sdk' | '@restatedev/restate-server';

export interface PeerPackages {
  /** Path of a package's entry module. */
  entryOf(name: PeerName): string;
  /** Path of Restate's server program. */
  readonly restateServer: string;
  readonly versions: Readonly<Record<PeerName, string>>;
}

/**
 * The peers' packages (about 240 MB, so they are not dependencies of the clone) are installed with npm into the cache
 * folder once for each lock file. They are compared with its checksums, and their install scripts are not run. Rejects
 * with npm's words when they are not available.
 */
export async function installPeers(cacheDir: string, say: (line: string) => void): Promise<PeerPackages> {
  const texts = await Promise.all(FILES.map((name) => readFile(join(MANIFESTS, name), 'utf8')));
  const versions = (JSON.parse(texts[0] as string) as { dependencies: PeerPackages['versions'] }).dependencies;
  const folder = join(cacheDir, `bench-peers-${createHash('sha256').update(texts.join()).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) {
    say(`installing ${Object.keys(versions).join(', ')} into ${folder}`);
    await install(folder);
  }
  const { resolve } = createRequire(join(folder, 'package.json'));
  const platform = `${process.platform}-${process.arch}`;
  return {
    entryOf: (name) => resolve(name),
    restateServer: join(folder, `node_modules/@restatedev/restate-server-${platform}/bin/restate-server`),
    versions,
  };
}

async function install(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    for (const name of FILES) await copyFile(join(MANIFESTS, name), join(draft, name));
    // npm chooses programs for the Node it runs under: for this one.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await promisify(execFile)('npm', args, { cwd: draft, env });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
