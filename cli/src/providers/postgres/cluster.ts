import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { complaintOf, type ProgramOptions, runProgram } from '../../process/run-program.ts';
import { newestFirst } from '../executables.ts';
import type { PostgresBinaries } from './binaries.ts';
import { claimPlace, isReachableByAll, openPlace, type Place, type RunAs } from './place.ts';
import { scramVerifier } from './scram.ts';

/** The superuser of every cluster; its password is a secret of the project. */
export const SUPERUSER = 'postgres';

const INITDB_TIMEOUT_MS = 60_000;

/**
 * Makes the data directory unless it is there. initdb takes a second; a copy of a directory prepared once per version
 * (in `cacheDir`) takes a tenth of it. The prepared one has no usable password, so nothing secret is shared.
 */
export async function createCluster(options: {
  readonly binaries: PostgresBinaries;
  readonly place: Place;
  readonly cacheDir: string;
  readonly password: string;
}): Promise<void> {
  const { binaries, place, cacheDir, password } = options;
  await openPlace(place);
  await claimPlace(place);
  if (existsSync(join(place.dataDir, 'PG_VERSION'))) return;
  await removeDrafts(place);
  const draft = join(place.base, `draft-${process.pid}`);
  const template = join(cacheDir, `postgres-template-${binaries.version}-${process.arch}`);
  if (existsSync(template)) await copyTree(template, draft, place.runAs);
  else await initialise({ binaries, place, draft, template });
  await setSuperuserPassword({ binaries, place, dataDir: draft, password });
  // The final name appears only with the work complete: a start that was killed before begins again.
  await rename(draft, place.dataDir);
}

async function initialise({
  binaries,
  place,
  draft,
  template,
}: {
  binaries: PostgresBinaries;
  place: Place;
  draft: string;
  template: string;
}) {
  const args = ['-D', draft, '-U', SUPERUSER, '--no-sync', '--locale=C', '--encoding=UTF8', '--auth=reject'];
  await runProgram(join(binaries.bin, 'initdb'), args, {
    ...identity(place.runAs),
    cwd: place.base,
    timeoutMs: INITDB_TIMEOUT_MS,
  }).catch((cause) => {
    throw new Error(`initdb: ${complaintOf(cause)}`, { cause });
  });
  // initdb has no way to ask for passwords on TCP before there is one; the server never runs with another file.
  await writeFile(join(draft, 'pg_hba.conf'), HOST_RULES);
  await saveTemplate(draft, template);
}

/** Passwords only, on loopback only; the Unix socket is off. */
const HOST_RULES = `# TYPE DATABASE USER ADDRESS METHOD
host all all 127.0.0.1/32 scram-sha-256
`;

async function saveTemplate(draft: string, template: string): Promise<void> {
  await mkdir(dirname(template), { recursive: true, mode: 0o700 });
  const copy = `${template}.${process.pid}`;
  await copyTree(draft, copy, undefined);
  await rename(copy, template).catch(async (error: NodeJS.ErrnoException) => {
    await rm(copy, { recursive: true });
    // Another start saved the same template first.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

async function copyTree(from: string, to: string, owner: RunAs | undefined): Promise<void> {
  await runProgram('cp', ['-R', from, to]);
  await chmod(to, 0o700);
  if (owner !== undefined) await runProgram('chown', ['-R', `${owner.uid}:${owner.gid}`, to]);
}

/** Single-user mode: no server listens before the password is set. Only its verifier is stored, and none is on argv. */
async function setSuperuserPassword(options: {
  binaries: PostgresBinaries;
  place: Place;
  dataDir: string;
  password: string;
}): Promise<void> {
  const { binaries, place, dataDir, password } = options;
  const failure = (reason: string, cause?: unknown) =>
    new Error(`postgres --single in ${dataDir}: ${reason}`, { cause });
  const { stderr } = await runProgram(join(binaries.bin, 'postgres'), ['--single', '-F', '-D', dataDir, 'template1'], {
    ...identity(place.runAs),
    cwd: place.base,
    input: `ALTER ROLE ${SUPERUSER} PASSWORD '${await scramVerifier(password)}'\n`,
  }).catch((cause) => {
    throw failure(complaintOf(cause), cause);
  });
  if (/ERROR|FATAL/.test(stderr)) throw failure(stderr);
}

async function removeDrafts(place: Place): Promise<void> {
  const drafts = await newestFirst(join(place.base, 'draft-*'));
  await Promise.all(drafts.map((draft) => rm(draft, { recursive: true, force: true })));
}

/** The arguments of a server of ours: loopback only, no Unix socket. */
export function serverArguments({ major }: PostgresBinaries, dataDir: string, port: number): string[] {
  const place = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // In files below the data, so that they go with it. A server that is killed leaves its others (/dev/shm) for good.
    dynamic_shared_memory_type: 'mmap',
  };
  return ['-D', dataDir, '-p', String(port), ...settingArguments({ ...place, ...serverSettings(major) })];
}

export function settingArguments(settings: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * Settings of every server, wherever it runs. fsync and synchronous_commit keep their defaults: what was confirmed
 * survives a crash.
 */
export function serverSettings(major: number): Readonly<Record<string, string | number>> {
  return {
    max_connections: 200,
    // One machine, no standby: crash recovery is complete at this level, and the log is smaller.
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    // Every statement is short: compiling or parallelising one costs more than running it.
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
    log_line_prefix: '%m [%p] %q%u@%d ',
    // Workers of version 18 would be three more processes without a gain at this size.
    ...(major >= 18 && { io_method: 'sync' }),
    // After a crash every file is made durable first: one call per file system instead of one per file.
    ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
  };
}

/** Copies binaries that PostgreSQL's user cannot reach (a clone under /root) next to the data. */
export async function reachableBinaries(binaries: PostgresBinaries, place: Place): Promise<PostgresBinaries> {
  if (place.runAs === undefined || (await isReachableByAll(join(binaries.bin, 'postgres')))) return binaries;
  await openPlace(place);
  const copy = join(place.base, `native-${binaries.version}`);
  if (!existsSync(copy)) {
    const draft = join(place.base, `draft-native-${process.pid}`);
    await runProgram('cp', ['-R', dirname(binaries.bin), draft]);
    await runProgram('chmod', ['-R', 'go+rX', draft]);
    await rename(draft, copy);
  }
  return { ...binaries, bin: join(copy, 'bin') };
}

function identity(runAs: RunAs | undefined): Pick<ProgramOptions, 'uid' | 'gid' | 'env'> {
  // Messages are read by this program and by people who search for them: always in English.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return runAs === undefined ? { env } : { env, uid: runAs.uid, gid: runAs.gid };
}
