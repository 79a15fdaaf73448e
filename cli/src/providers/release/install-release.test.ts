/*
 * Goal: a program of a release is there whole and as it was pinned, or not at all, and a waiting user sees why.
 * Method: a release host on loopback that responds well, wrongly, half, or not.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installRelease, type ReleaseInstallation } from './install-release.ts';
import { aRelease, aReleaseServer, sha256Of } from './testing.ts';

const PROGRAM = '#!/bin/sh\necho tool v1.0.0\n';
const ARCHIVE_PATH = '/owner/tool/releases/download/v1.0.0/tool.tar.gz';

let folder: string;
let archive: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-release-'));
  await mkdir(join(folder, 'tool-1.0.0'));
  await writeFile(join(folder, 'tool-1.0.0', 'tool'), PROGRAM, { mode: 0o644 });
  execFileSync('tar', ['-czf', join(folder, 'tool.tar.gz'), '-C', folder, 'tool-1.0.0']);
  archive = await readFile(join(folder, 'tool.tar.gz'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(folder, 'cache-'));
});
// Whatever became of it: the folder of the program at the most, and never a draft.
afterEach(async () => {
  expect((await readdir(cacheDir)).filter((name) => name !== 'tool-v1.0.0')).toEqual([]);
});

const pinned = () => aRelease({ name: 'tool.tar.gz', program: 'tool-1.0.0/tool', sha256: sha256Of(archive) });
const target = () => join(cacheDir, 'tool-v1.0.0', 'tool');
const sends =
  (body: Buffer | string): RequestListener =>
  (_, response) =>
    response.end(body);

function install(url: string, more: Partial<ReleaseInstallation> = {}): Promise<void> {
  return installRelease({
    release: pinned(),
    target: target(),
    context: { cacheDir, env: { PATH: process.env.PATH, SHOPCTL_RELEASES_URL: url } },
    onProgress: () => undefined,
    ...more,
  });
}

describe('a release whose checksum is pinned', () => {
  it('is downloaded from its address, unpacked, and can be run', async () => {
    await using host = await aReleaseServer(sends(archive));
    await install(host.url);
    expect(host.paths).toEqual([ARCHIVE_PATH]);
    expect(execFileSync(target(), { encoding: 'utf8' })).toBe('tool v1.0.0\n');
    expect((await stat(target())).mode & 0o777).toBe(0o755);
  });

  it('has its further programs put beside it, and is refused where one is missing', async () => {
    await writeFile(join(folder, 'tool-1.0.0', 'helper'), PROGRAM);
    execFileSync('tar', ['-czf', join(folder, 'both.tar.gz'), '-C', folder, 'tool-1.0.0']);
    await rm(join(folder, 'tool-1.0.0', 'helper'));
    const both = await readFile(join(folder, 'both.tar.gz'));
    const withHelper = (content: Buffer) =>
      aRelease({
        name: 'tool.tar.gz',
        program: 'tool-1.0.0/tool',
        also: ['tool-1.0.0/helper'],
        sha256: sha256Of(content),
      });
    await using without = await aReleaseServer(sends(archive));
    await expect(install(without.url, { release: withHelper(archive) })).rejects.toThrow(
      /could not be unpacked: ENOENT/,
    );
    expect(existsSync(target())).toBe(false);
    await using host = await aReleaseServer(sends(both));
    await install(host.url, { release: withHelper(both) });
    for (const name of ['tool', 'helper']) {
      const file = join(cacheDir, 'tool-v1.0.0', name);
      expect(execFileSync(file, { encoding: 'utf8' })).toBe('tool v1.0.0\n');
      expect(existsSync(`${file}.sha256`)).toBe(true);
    }
  });

  it('says what it does, with the share that is there', async () => {
    const said: string[] = [];
    await using host = await aReleaseServer((_, response) =>
      response.setHeader('content-length', archive.length).end(archive),
    );
    await install(host.url, { onProgress: (message) => said.push(message) });
    expect(said[0]).toMatch(/^downloading tool\.tar\.gz from 127\.0\.0\.1:\d+$/);
    expect(said.at(-1)).toMatch(/: 100 %$/);
  });

  it('is followed to where the host keeps it', async () => {
    await using storage = await aReleaseServer(sends(archive));
    await using host = await aReleaseServer((_, response) =>
      response.writeHead(302, { location: `${storage.url}kept?signature=secret` }).end(),
    );
    await install(host.url);
    expect(storage.paths).toEqual(['/kept?signature=secret']);
    expect(existsSync(target())).toBe(true);
  });

  it('is refused when its checksum is another, and nothing of it is kept', async () => {
    await using host = await aReleaseServer(sends('something else'));
    await expect(install(host.url)).rejects.toThrow(
      `tool.tar.gz has the SHA-256 ${sha256Of(Buffer.from('something else'))}, and ${sha256Of(archive)} is pinned`,
    );
    expect(existsSync(target())).toBe(false);
  });

  it('is not kept when the connection is cut', async () => {
    await using host = await aReleaseServer((_, response) => {
      response.setHeader('content-length', archive.length);
      response.write(archive.subarray(0, 40), () => response.destroy());
    });
    await expect(install(host.url)).rejects.toThrow(
      /Tool v1\.0\.0 was not downloaded from 127\.0\.0\.1:\d+: other side closed/,
    );
    expect(existsSync(target())).toBe(false);
  });

  it('that the host does not have is said with its path; the query of a redirect is not', async () => {
    await using storage = await aReleaseServer((_, response) => response.writeHead(404).end());
    await using host = await aReleaseServer((_, response) =>
      response.writeHead(302, { location: `${storage.url}kept?signature=secret` }).end(),
    );
    const error = await install(host.url).catch((reason: Error) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(/responded 404 for \/kept; behind a proxy set HTTPS_/),
    });
    expect((error as Error).message).not.toContain('secret');
  });

  it('from a host without a listener fails immediately and says what could help', async () => {
    const { url } = await endedServer();
    await expect(install(url)).rejects.toThrow(/ECONNREFUSED.*set HTTPS_PROXY, with a mirror.*SHOPCTL_RELEASES_URL/);
  });

  it('from a host that takes the connection and is silent is given up', async () => {
    await using host = await aReleaseServer(() => undefined);
    const limits = { responseMs: 50, stallMs: 60_000, totalMs: 60_000 };
    await expect(install(host.url, { limits })).rejects.toThrow(/no response from 127\.0\.0\.1:\d+ within 0\.05 s/);
  });

  it('that stops in the middle is given up', async () => {
    await using host = await aReleaseServer((_, response) => response.write(archive.subarray(0, 40)));
    const limits = { responseMs: 60_000, stallMs: 50, totalMs: 60_000 };
    await expect(install(host.url, { limits })).rejects.toThrow(/sent nothing for 0\.05 s/);
  });

  it('that never comes to its end is given up', async () => {
    await using host = await aReleaseServer((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const limits = { responseMs: 60_000, stallMs: 60_000, totalMs: 200 };
    await expect(install(host.url, { limits })).rejects.toThrow('not there after 0.2 s');
  });

  it('that is interrupted ends with the reason', async () => {
    const interrupted = new AbortController();
    await using host = await aReleaseServer((_, response) => {
      response.write(archive.subarray(0, 40), () => interrupted.abort(new Error('Ctrl-C')));
    });
    await expect(install(host.url, { signal: interrupted.signal })).rejects.toThrow('Ctrl-C');
    expect(existsSync(target())).toBe(false);
  });

  it('removes what a killed download left of its draft', async () => {
    await mkdir(join(cacheDir, 'release-tool'));
    await writeFile(join(cacheDir, 'release-tool', 'archive'), 'half');
    await using host = await aReleaseServer(sends(archive));
    await install(host.url);
    expect(existsSync(target())).toBe(true);
  });

  it('without the program in it is refused', async () => {
    await using host = await aReleaseServer(sends(archive));
    const release = aRelease({ name: 'tool.tar.gz', program: 'bin/tool', sha256: sha256Of(archive) });
    await expect(install(host.url, { release })).rejects.toThrow(/tool\.tar\.gz could not be unpacked: ENOENT/);
  });

  it('that is not an archive is refused', async () => {
    const noise = Buffer.from('no archive');
    await using host = await aReleaseServer(sends(noise));
    const release = aRelease({ name: 'tool.tar.gz', program: 'tool', sha256: sha256Of(noise) });
    await expect(install(host.url, { release })).rejects.toThrow(/tool\.tar\.gz could not be unpacked/);
  });
});

describe('a release with a list of checksums', () => {
  const listed = () => aRelease({ name: 'tool.tar.gz', program: 'tool-1.0.0/tool' }, { checksumList: 'sums.txt' });
  const sendsWithList =
    (list: string): RequestListener =>
    (request, response) =>
      response.end(request.url?.endsWith('sums.txt') ? list : archive);

  it('is compared with it', async () => {
    const list = `${sha256Of(Buffer.from('other'))} *other.tar.gz\n${sha256Of(archive)} *tool.tar.gz\n`;
    await using host = await aReleaseServer(sendsWithList(list));
    await install(host.url, { release: listed() });
    expect(host.paths).toHaveLength(2);
    expect(existsSync(target())).toBe(true);
  });

  it('is refused when it differs from it', async () => {
    const list = `${createHash('sha256').digest('hex')} *tool.tar.gz\n`;
    await using host = await aReleaseServer(sendsWithList(list));
    await expect(install(host.url, { release: listed() })).rejects.toThrow(/the release's list has e3b0c442/);
    expect(existsSync(target())).toBe(false);
  });

  it('is not even downloaded when it is not in it', async () => {
    await using host = await aReleaseServer(sendsWithList('<html>'));
    await expect(install(host.url, { release: listed() })).rejects.toThrow('sums.txt of the release does not have');
    expect(host.paths).toHaveLength(1);
  });
});

it('a program never comes over plain HTTP from another machine', async () => {
  await expect(install('http://mirror.example/')).rejects.toThrow('http://mirror.example is not HTTPS');
});

it('a proxy of the environment is asked for the release host, and its password is not printed', async () => {
  const asked: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 502 no\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  const env = { PATH: process.env.PATH, HTTPS_PROXY: `http://user:hidden@127.0.0.1:${port}` };
  const error = await install('', { context: { cacheDir, env } }).catch((reason: Error) => reason);
  proxy.close();
  expect(asked).toEqual(['CONNECT github.com:443 HTTP/1.1']);
  expect(error).toMatchObject({ message: expect.stringContaining('Tool v1.0.0 was not downloaded from github.com') });
  expect((error as Error).message).not.toContain('hidden');
});

/** The address of a server that is gone. */
async function endedServer(): Promise<{ readonly url: string }> {
  await using host = await aReleaseServer(() => undefined);
  return { url: host.url };
}
