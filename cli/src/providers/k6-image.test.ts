/*
 * Goal: k6 comes out of its image whole, and neither a container nor half a program is left.
 * Method: an engine on loopback that responds as Docker's API does; what a real engine sends was looked at by hand.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { k6ImageSource } from './k6-image.ts';
import { aReleaseServer } from './release/testing.ts';

let folder: string;
let archive: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-k6-image-'));
  await writeFile(join(folder, 'k6'), '#!/bin/sh\necho k6 v2.2.0\n');
  archive = execFileSync('tar', ['-cf', '-', '-C', folder, 'k6']);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(folder, 'cache-'));
});

const IMAGE = 'GET /images/grafana/k6:2.2.0/json';
const COPY = 'GET /containers/made/archive?path=%2Fusr%2Fbin%2Fk6';

/** Docker's engine as far as it is asked here. */
function engine(handlers: Readonly<Record<string, (response: ServerResponse) => void>> = {}) {
  const known: typeof handlers = {
    'GET /_ping': (response) => response.end('OK'),
    [IMAGE]: (response) => response.end('{}'),
    'DELETE /containers/shopctl-k6-program': (response) => response.writeHead(404).end('{}'),
    'POST /containers/create?name=shopctl-k6-program&Image=grafana%2Fk6%3A2.2.0': (response) =>
      response.writeHead(201).end('{"Id":"made"}'),
    [COPY]: (response) => response.end(archive),
    'DELETE /containers/made': (response) => response.writeHead(204).end(),
    ...handlers,
  };
  const asked: string[] = [];
  const listener = ({ method, url }: IncomingMessage, response: ServerResponse) => {
    asked.push(`${method} ${url}`);
    (
      known[`${method} ${url}`] ??
      ((unknown) => unknown.writeHead(500).end(JSON.stringify({ message: `no response to ${method} ${url}` })))
    )(response);
  };
  return { asked, listener };
}

const wayAt = (url: string, env: NodeJS.ProcessEnv = {}, platform = 'linux') => {
  const DOCKER_HOST = url.replace(/^http:\/\/(.*)\/$/, 'tcp://$1');
  const context = { cacheDir, env: { PATH: process.env.PATH, DOCKER_HOST, ...env } };
  return k6ImageSource(join(cacheDir, 'k6-v2.2.0', 'k6'), context, platform);
};
const left = async () => (await readdir(cacheDir)).filter((name) => name !== 'k6-v2.2.0');

it('copies k6 out of a container that is made for it, and removed', async () => {
  const { listener, asked } = engine();
  await using host = await aReleaseServer(listener);
  await wayAt(host.url).install(() => undefined);
  expect(execFileSync(join(cacheDir, 'k6-v2.2.0', 'k6'), { encoding: 'utf8' })).toBe('k6 v2.2.0\n');
  expect(asked.at(-1)).toBe('DELETE /containers/made');
  expect(await left()).toEqual([]);
});

it('keeps nothing of a copy that is not an archive, and removes the container', async () => {
  const { listener, asked } = engine({ [COPY]: (response) => response.end('noise') });
  await using host = await aReleaseServer(listener);
  await expect(wayAt(host.url).install(() => undefined)).rejects.toThrow(
    'k6 could not be copied out of grafana/k6:2.2.0',
  );
  expect(asked.at(-1)).toBe('DELETE /containers/made');
  expect(existsSync(join(cacheDir, 'k6-v2.2.0', 'k6'))).toBe(false);
  expect(await left()).toEqual([]);
});

it('pulls the image when it is not here, and says why that failed', async () => {
  const { listener } = engine({ [IMAGE]: (response) => response.writeHead(404).end('{}') });
  await using host = await aReleaseServer(listener);
  await expect(wayAt(host.url).install(() => undefined)).rejects.toThrow(
    /^grafana\/k6:2\.2\.0 could not be pulled \(.*no response to POST \/images\/create/,
  );
});

it('is available where an engine responds, on Linux', async () => {
  const { listener } = engine();
  await using host = await aReleaseServer(listener);
  expect(await wayAt(host.url).check()).toMatchObject({ kind: 'docker', available: false, installable: true });
  expect(await wayAt(host.url, {}, 'darwin').check()).toMatchObject({
    installable: false,
    detail: 'the program in grafana/k6:2.2.0 runs on Linux alone',
  });
  expect(await wayAt(host.url, { DOCKER_HOST: 'unix:///nowhere.sock' }).check()).toMatchObject({
    installable: false,
    detail: expect.stringContaining('no Docker engine responds'),
  });
});
