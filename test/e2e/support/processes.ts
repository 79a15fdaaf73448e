import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** All processes of this machine whose environment holds `mark`, with what anybody may read of them. Linux only. */
export function processesMarked(mark: string): { readonly pid: number; readonly commandLine: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    if (!read(`/proc/${name}/environ`).includes(mark)) return [];
    return [{ pid: Number(name), commandLine: read(`/proc/${name}/cmdline`).replaceAll('\0', ' ') }];
  });
}

/** Local addresses on which these processes listen, as /proc/net/tcp writes them (`0100007F:1F90` is 127.0.0.1:8080). */
export function listenersOf(pids: readonly number[]): readonly string[] {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((table) =>
    read(`/proc/net/${table}`)
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      // Fields: sl, local_address, rem_address, st (0A is LISTEN), ..., the tenth is the inode.
      .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] as string))
      .map((fields) => fields[1] as string),
  );
}

/** 127.0.0.0/8, ::1, and 127.0.0.0/8 as an IPv6 address: words are in host byte order. */
export function isLoopback(address: string): boolean {
  return /^([0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F):/.test(address);
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    );
  } catch {
    return []; // It has ended meanwhile.
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // Closed meanwhile.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended meanwhile, or is another user's.
  }
}
