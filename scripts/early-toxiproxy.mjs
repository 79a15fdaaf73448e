#!/usr/bin/env node
/**
 * Builds Toxiproxy with Go while npm installs what `shopctl setup` itself needs: setup would build it afterwards, for as long
 * again. Does nothing where setup finds or downloads one. Runs under any Node from 20 on, without packages.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

// What cli/src/providers/ has of Toxiproxy and of builds; a test compares them.
const VERSION = 'v2.12.0';
const MODULE = 'github.com/Shopify/toxiproxy/v2';
const MAIN_PACKAGE = './cmd/server';
const RELEASES = 'https://github.com/';
const BUILD_OPTIONS = ['-trimpath', '-gcflags=all=-dwarf=false', '-ldflags=-s -w'];

/** A host that does not respond by then is not one to download from. */
const HOST_LIMIT_MS = 3_000;

const { env } = process;
const cacheDir = join(env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache'), 'shopctl');
const target = join(cacheDir, `toxiproxy-server-${VERSION}`, 'toxiproxy-server');
const over = new AbortController();

async function isOnPath(name) {
  for (const folder of (env.PATH ?? '').split(delimiter).filter((one) => one !== '')) {
    if (await isExecutable(join(folder, name))) return true;
  }
  return false;
}

function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether the host of the releases has the archive for this platform, which setup prefers to a build. */
async function canBeDownloaded() {
  const name = `toxiproxy_${VERSION.slice(1)}_${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}.tar.gz`;
  try {
    const url = new URL(`Shopify/toxiproxy/releases/download/${VERSION}/${name}`, env.SHOPCTL_RELEASES_URL || RELEASES);
    const { ok } = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(HOST_LIMIT_MS) });
    return ok;
  } catch {
    return false;
  }
}

async function isNeeded() {
  if (env.SHOPCTL_TOXIPROXY_URL || (await isExecutable(target))) return false;
  if ((await isOnPath('toxiproxy-server')) || !(await isOnPath('go'))) return false;
  return !(await canBeDownloaded());
}

/** Resolves with what it printed; rejects with its exit code and what it complained about. */
function go(args, cwd, draft) {
  return new Promise((resolve, reject) => {
    // The same program whether or not there is a C compiler.
    const own = {
      GOPATH: join(draft, 'path'),
      GOCACHE: env.GOCACHE || join(draft, 'cache'),
      GOFLAGS: '-modcacherw',
      CGO_ENABLED: '0',
    };
    const child = spawn('go', args, { cwd, env: { ...env, ...own }, signal: over.signal });
    let said = '';
    let complaint = '';
    child.stdout.on('data', (data) => (said += data));
    child.stderr.on('data', (data) => (complaint += data));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`go ${args[0]}: ${code} ${complaint}`)),
    );
  });
}

/** Puts the program at its place in one step, and leaves nothing else. */
async function build() {
  const draft = join(cacheDir, `go-${randomUUID()}`);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    const { Dir } = JSON.parse(await go(['mod', 'download', '-json', `${MODULE}@${VERSION}`], draft, draft));
    const built = join(draft, 'program');
    await go(['build', ...BUILD_OPTIONS, '-o', built, MAIN_PACKAGE], Dir, draft);
    await chmod(built, 0o755);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(built, target);
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 });
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => over.abort());
try {
  if (await isNeeded()) await build();
} catch (error) {
  // Setup builds it again, and says what is wrong.
  if (!over.signal.aborted) console.error(`Toxiproxy is built later: ${error.message.slice(-500)}`);
  process.exitCode = 1;
}
