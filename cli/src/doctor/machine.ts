import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { formatBytes } from '../output/units.ts';
import type { DoctorCheck } from './checks.ts';

/** What a running platform takes, measured: six services 500 MB, broker 230, database 60, supervisor 90. */
export const PLATFORM_MEMORY_BYTES = 900 * 1024 ** 2;
const NEEDED_DISK_BYTES = 1024 ** 3;
const RECOMMENDED_CPUS = 2;

export function checkNode(version: string): DoctorCheck {
  const isRecent = Number(version.split('.')[0]) >= 24;
  return {
    group: 'runtime',
    name: 'node',
    verdict: isRecent ? 'pass' : 'fail',
    evidence: `Node ${version}`,
    ...(!isRecent && { fix: 'run "npm install" in the clone: it brings Node 24' }),
  };
}

export function checkCpus(count = availableParallelism()): DoctorCheck {
  const isEnough = count >= RECOMMENDED_CPUS;
  return {
    group: 'machine',
    name: 'cpu',
    verdict: 'pass',
    evidence: `${count} CPU${count === 1 ? '' : 's'}`,
    ...(!isEnough && { fix: 'expect slow starts; raise the limit with "shopctl up --wait-timeout 600"' }),
  };
}

export async function checkMemory(): Promise<DoctorCheck> {
  const available = await availableMemory();
  const isEnough = available >= PLATFORM_MEMORY_BYTES;
  return {
    group: 'machine',
    name: 'memory',
    verdict: 'pass',
    evidence: `${formatBytes(available)} of ${formatBytes(totalmem())} available, a platform needs ${formatBytes(PLATFORM_MEMORY_BYTES)}`,
    ...(!isEnough && { fix: 'end other programs, or start fewer services ("shopctl up catalog")' }),
  };
}

/** os.freemem() leaves out the page cache, which the kernel gives back when asked. */
export async function availableMemory(): Promise<number> {
  if (process.platform !== 'linux') return freemem();
  const kibibytes = /^MemAvailable:\s+(\d+) kB/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1];
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024;
}

export async function checkDisk(folder: string): Promise<DoctorCheck> {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const isEnough = free >= NEEDED_DISK_BYTES;
  return {
    group: 'machine',
    name: 'disk',
    verdict: 'pass',
    evidence: `${formatBytes(free)} free for ${folder}`,
    ...(!isEnough && { fix: `free ${formatBytes(NEEDED_DISK_BYTES)} there` }),
  };
}
