import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneRoot, openProject, type Project } from './project.ts';
import { makeStateFolder } from './state-folder.ts';
import { isSupervisorRunning } from './supervisor-process.ts';

let home: string;
let project: Project;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  project = openProject('fake', cloneRoot(), { SHOPCTL_HOME: home });
  await makeStateFolder(project.stateDir);
});

afterEach(() => rm(home, { recursive: true }));

async function listen(take: (socket: Socket) => void): Promise<AsyncDisposable> {
  const server = createServer(take);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(project.socketPath, resolve));
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a supervisor', () => {
  it('runs when it responds', async () => {
    await using _server = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
    expect(await isSupervisorRunning(project)).toBe(true);
  });

  it('runs when it is too busy to respond', async () => {
    await using _server = await listen(() => {});
    expect(await isSupervisorRunning(project, 50)).toBe(true);
  });

  it('does not run when the connection is accepted and ends, as while a killed process ends', async () => {
    await using _server = await listen((socket) => socket.destroy());
    expect(await isSupervisorRunning(project)).toBe(false);
  });

  it('does not run when nothing listens', async () => {
    expect(await isSupervisorRunning(project)).toBe(false);
  });
});
