import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Release, ReleaseFile } from './release.ts';

/** A release host on loopback, and what it was asked for. */
export interface ReleaseServer extends AsyncDisposable {
  readonly url: string;
  readonly paths: readonly string[];
}

export async function aReleaseServer(listener: RequestListener): Promise<ReleaseServer> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A release with one and the same archive for every platform. */
export function aRelease(file: ReleaseFile, more: Partial<Release> = {}): Release {
  const files = { 'linux-x64': file, 'linux-arm64': file, 'darwin-x64': file, 'darwin-arm64': file };
  return { title: 'Tool', version: 'v1.0.0', folder: 'owner/tool/releases/download/v1.0.0/', files, ...more };
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
