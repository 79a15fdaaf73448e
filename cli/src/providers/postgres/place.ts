import { createHash, randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mountsBelow, unmountQuotaFilesystem } from '../../process/quota-filesystem.ts';
import { unless } from '../../shared/unless.ts';
import { removeSegment, runningServer } from './postmaster.ts';

/** PostgreSQL refuses to run as root; then it runs as this user. */
export interface RunAs {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Where one project's cluster lives, and as whom it runs. */
export interface Place {
  /** Folder for everything PostgreSQL stores, owned by its user, mode 0700. */
  readonly base: string;
  readonly dataDir: string;
  /** For a folder outside the state directory: says inside it whose folder that is. */
  readonly claimFile?: string;
  /** Undefined: as ourselves. */
  readonly runAs: RunAs | undefined;
}

/**
 * As an ordinary user the data is in the state directory. As root it cannot be: the state directory is 0700, so the
 * user PostgreSQL runs as could not reach it. Then it is in /var/tmp under a name made from the state directory.
 */
export async function choosePlace(stateDir: string): Promise<Place> {
  const runAs = process.geteuid?.() === 0 ? await unprivilegedUser() : undefined;
  if (runAs === undefined) {
    const base = insideFolder(stateDir);
    return { base, dataDir: join(base, 'data'), runAs };
  }
  const base = outsideFolder(stateDir);
  return { base, dataDir: join(base, 'data'), claimFile: join(stateDir, 'data', 'postgres-claim'), runAs };
}

/** Removes what the cluster of a state directory has outside of it: files, and the memory of a server that was killed. */
export async function removeOutside(stateDir: string): Promise<void> {
  const outside = outsideFolder(stateDir);
  // First: a file of the data names it.
  for (const base of [insideFolder(stateDir), outside]) await removeSegment(join(base, 'data'));
  // A killed supervisor may have left a full disk (a fault) mounted there.
  for (const mount of await mountsBelow(outside)) await unmountQuotaFilesystem(mount);
  await rm(outside, { recursive: true, force: true });
}

function insideFolder(stateDir: string): string {
  return join(stateDir, 'data', 'postgres');
}

/** The folder outside the state directory that a cluster started by root uses. A removal of the data removes it too. */
function outsideFolder(stateDir: string): string {
  return `/var/tmp/shopctl-${createHash('sha256').update(stateDir).digest('hex').slice(0, 16)}`;
}

/** Makes the folder. Throws when another user made it first: /var/tmp is open to all users. */
export async function openPlace({ base, runAs }: Place): Promise<void> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  const found = await lstat(base);
  const owner = runAs?.uid ?? process.geteuid?.() ?? found.uid;
  const isOurs = found.uid === owner || found.uid === process.geteuid?.();
  if (!found.isDirectory() || !isOurs) {
    throw new Error(`${base}: is not a folder of uid ${owner} (owner is ${found.uid}); remove it and try again`);
  }
  if (runAs !== undefined) await chown(base, runAs.uid, runAs.gid);
  await chmod(base, 0o700);
}

/**
 * Removes a cluster whose state directory was deleted, as with a clone that was removed and cloned again: its passwords went
 * with it, so no client can use it. A cluster without a claim, of an earlier version, is taken over.
 */
export async function claimPlace({ base, dataDir, claimFile }: Place): Promise<void> {
  if (claimFile === undefined) return;
  const inside = join(base, 'claim');
  const [ours, theirs] = await Promise.all([contentOf(claimFile), contentOf(inside)]);
  if (ours !== undefined && ours === theirs) return;
  if (theirs !== undefined) await removeUnusedCluster(dataDir);
  const claim = randomUUID();
  await mkdir(dirname(claimFile), { recursive: true, mode: 0o700 });
  await writeFile(inside, claim, { mode: 0o600 });
  await writeFile(claimFile, claim, { mode: 0o600 });
}

async function removeUnusedCluster(dataDir: string): Promise<void> {
  const pid = await runningServer(dataDir);
  if (pid !== undefined) {
    throw new Error(
      `${dataDir}: PostgreSQL ${pid} of a clone that was deleted still runs there; end it with "kill ${pid}"`,
    );
  }
  await removeSegment(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}

async function contentOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(unless('ENOENT'));
}

/** True when every user may pass through each folder above `path`, so that another user can use what is in it. */
export async function isReachableByAll(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function unprivilegedUser(): Promise<RunAs> {
  // The user must exist in the user database: PostgreSQL looks its own name up.
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const entry = lines.find((fields) => fields[0] === name);
    if (entry !== undefined) return { name, uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is neither a user "postgres" nor "nobody": run as an ordinary user',
  );
}
