/*
 * Runs a bundle with what V8 has compiled of it in an earlier process. Node's compile cache is made before a module runs. It has none of
 * the functions that V8 compiles when they are first called: three thousand in a service's start. A `vm.Script` gives their code, too:
 * https://nodejs.org/api/vm.html#scriptcreatecacheddata
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** How long a process has run whose compiled code is kept, in ms: one that ends during its start has not called all of it. */
const WORTH_KEEPING_MS = 5_000;

/** Of each bundle: releases and edited sources have other texts. */
const KEPT_VERSIONS = 5;

/** A check sum before the code, in bytes. */
const HEAD_BYTES = 4;

/** What a CommonJS module sees beside what is global. */
const PARAMETERS = 'exports, require, module, __filename, __dirname';

/**
 * Runs a CommonJS bundle as `node FILE` does. `folder` has the compiled code that this version of Node can use, as what
 * `getCompileCacheDir()` of `node:module` names; without one nothing is kept. A process keeps what it has compiled when it ends with
 * 0 after `worthKeepingMs` or more. Throws what the bundle throws.
 */
export function runBundle(file: string, folder: string | undefined, worthKeepingMs = WORTH_KEEPING_MS): void {
  const source = readFileSync(file);
  const versions = `${basename(file)}-`;
  const kept = folder === undefined ? undefined : join(folder, `${versions}${idOf(source)}`);
  const cachedData = kept === undefined ? undefined : read(kept);
  const script = new Script(`(function (${PARAMETERS}) {\n${source}\n});`, {
    filename: file,
    // The bundle's first line stays the first.
    lineOffset: -1,
    ...(cachedData && { cachedData }),
  });
  const isNew = cachedData === undefined || script.cachedDataRejected;
  if (kept !== undefined && isNew) {
    // Here no one waits for the process: it takes some 50 ms. One that failed may have hardly started.
    process.once('exit', (code) => {
      if (code === 0 && performance.now() >= worthKeepingMs) write(kept, versions, script.createCachedData());
    });
  }
  const module = { exports: {} };
  script.runInThisContext().call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
}

const idOf = (source: Buffer) => `${source.length.toString(36)}-${crc32(source).toString(36)}`;

/** Undefined when it is not there or damaged: V8 does not look. */
function read(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(HEAD_BYTES);
    return bytes.readUInt32LE() === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the newest of the files whose names begin with `versions`, this one included. */
function write(path: string, versions: string, code: Buffer): void {
  const draft = `${path}.${process.pid}.tmp`;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(code));
  try {
    writeFileSync(draft, Buffer.concat([head, code]), { mode: 0o600 });
    renameSync(draft, path);
    removeOlder(dirname(path), versions);
  } catch {
    // The next process compiles, as this one did.
    rmSync(draft, { force: true });
  }
}

function removeOlder(folder: string, versions: string): void {
  const oldestLast = readdirSync(folder)
    .filter((name) => name.startsWith(versions))
    .map((name) => ({ place: join(folder, name), writtenAt: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.writtenAt - a.writtenAt);
  for (const { place } of oldestLast.slice(KEPT_VERSIONS)) rmSync(place, { force: true });
}
