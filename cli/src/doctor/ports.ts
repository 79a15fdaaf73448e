import { readdir, readFile, readlink } from 'node:fs/promises';
import { isFree } from '../platform/ports.ts';
import type { DoctorCheck } from './checks.ts';

/** The gateway's port: whether it is free, and which process holds it if not. */
export async function checkPort(port: number, isOurs: boolean): Promise<DoctorCheck> {
  const base = { group: 'ports', name: `port ${port}` } as const;
  if (isOurs) return { ...base, verdict: 'pass', evidence: 'held by the running gateway' };
  if (await isFree(port)) return { ...base, verdict: 'pass', evidence: 'free' };
  const holder = await findHolder(port);
  return {
    ...base,
    verdict: 'pass',
    evidence: `taken by ${holder ?? 'another program'}; the gateway will use the next free port`,
    fix: 'end that program, or look up the real port with "shopctl port gateway"',
  };
}

/** "process 123 (node server.js)" for a listening TCP port; undefined where it cannot be seen. Linux only. */
async function findHolder(port: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const inode = await listeningInode(port);
  if (inode === undefined) return undefined;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (await holdsSocket(pid, inode)) {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
      return `process ${pid} (${command.slice(0, 60)})`;
    }
  }
  return undefined;
}

/** Column 4 of /proc/net/tcp is the state (0A: listening), column 10 the socket's inode. */
async function listeningInode(port: number): Promise<string | undefined> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  for (const line of tables.join('\n').split('\n')) {
    const columns = line.trim().split(/\s+/);
    if (columns[1]?.endsWith(suffix) && columns[3] === '0A') return columns[9];
  }
  return undefined;
}

async function holdsSocket(pid: string, inode: string): Promise<boolean> {
  try {
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      if ((await readlink(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`) return true;
    }
  } catch {
    // Another user's process, or one that has just ended: it cannot be looked into.
  }
  return false;
}
