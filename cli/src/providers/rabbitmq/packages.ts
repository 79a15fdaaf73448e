import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { complaintOf, runProgram } from '../../process/run-program.ts';
import { Apt } from '../apt.ts';
import type { ComponentContext, OnProgress } from '../component.ts';
import { newestFirst } from '../executables.ts';
import { findUnpackedRabbitMq, type RabbitMqLayout } from './layout.ts';

/** Raise it when what is done to an unpacked tree changes: trees made by an older version are then left alone. */
const TREE_VERSION = 2;

/** Where the packages are unpacked; nothing of them is installed, registered or started by the system. */
function packagesFolder(cacheDir: string): string {
  return join(cacheDir, `rabbitmq-packages-${TREE_VERSION}`);
}

export function findPackagedRabbitMq(cacheDir: string): Promise<RabbitMqLayout | string> {
  return findUnpackedRabbitMq(packagesFolder(cacheDir));
}

/**
 * Downloads rabbitmq-server and the Erlang packages it needs with apt (which checks their signatures) and unpacks them
 * into the cache directory. Needs no root and changes nothing outside the cache directory.
 */
export async function unpackRabbitMq(
  { cacheDir, env }: Pick<ComponentContext, 'cacheDir' | 'env'>,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(cacheDir, 'rabbitmq-draft-'));
  try {
    const apt = new Apt({ cacheDir, env }, signal);
    // Of its dependencies those that are Erlang; the C library and the like are the machine's.
    const names = await apt.packages('rabbitmq-server', (name) => /^erlang-[a-z0-9-]+$/.test(name), onProgress);
    onProgress(`downloading ${names.length} packages of RabbitMQ and Erlang (about 32 MB)`);
    const root = await apt.unpack(names, draft, onProgress);
    await relocateErl(root);
    await proveErlangRuns(root);
    await rename(root, packagesFolder(cacheDir)).catch(async (error: NodeJS.ErrnoException) => {
      const other = await findPackagedRabbitMq(cacheDir);
      // Another setup was faster; an incomplete folder, however, is a fault.
      if (typeof other === 'string') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Debian's two `erl` scripts have the path of their package written into them. RabbitMQ's scripts start Erlang through
 * them, so they are made to look beside themselves instead; the direct start needs neither.
 */
async function relocateErl(root: string): Promise<void> {
  const erlang = join(root, 'usr/lib/erlang');
  await rewriteRoot(join(erlang, 'bin/erl'), '..');
  for (const script of await newestFirst(join(erlang, 'erts-*/bin/erl'))) await rewriteRoot(script, '../..');
}

async function rewriteRoot(script: string, wayUp: string): Promise<void> {
  const content = await readFile(script, 'utf8');
  const root = `"$(cd "$(dirname "$(readlink -f "$0")")/${wayUp}" && pwd)"`;
  await writeFile(
    script,
    content.replaceAll(/ROOTDIR=\/usr\/lib\/erlang$/gm, () => `ROOTDIR=${root}`),
  );
}

/** Runs Erlang once with the application that has the most demands on the machine (OpenSSL's library). */
async function proveErlangRuns(root: string): Promise<void> {
  const layout = await findUnpackedRabbitMq(root);
  if (typeof layout === 'string') throw new Error(layout);
  const env = {
    ROOTDIR: layout.erlangRoot,
    BINDIR: layout.ertsBin,
    EMU: 'beam',
    PROGNAME: 'erl',
    PATH: '/usr/bin:/bin',
    HOME: root,
  };
  const check = 'crypto:start(), io:format("~s", [erlang:system_info(otp_release)]), halt().';
  try {
    await runProgram(join(layout.ertsBin, 'erlexec'), ['-noshell', '-boot', 'start_clean', '-eval', check], {
      env,
      timeoutMs: 30_000,
    });
  } catch (cause) {
    throw new Error(explainFailure(complaintOf(cause)), { cause });
  }
}

/** Debian packages of the libraries Erlang is linked with. */
const LIBRARY_PACKAGES: Readonly<Record<string, string>> = {
  'libcrypto.so.3': 'libssl3 (libssl3t64 on newer systems)',
  'libtinfo.so.6': 'libtinfo6',
  'libsystemd.so.0': 'libsystemd0',
  'libstdc++.so.6': 'libstdc++6',
  'libz.so.1': 'zlib1g',
};

export function explainFailure(output: string): string {
  const library = /(lib[a-z0-9+]+\.so\.\d+)[^:]*: cannot open shared object/.exec(output)?.[1];
  if (library === undefined) return `the unpacked Erlang does not run: ${output.trim().slice(0, 400)}`;
  const name = LIBRARY_PACKAGES[library];
  return `Erlang needs the library ${library}, which this machine lacks: install ${name ?? `the package that has ${library}`}`;
}
