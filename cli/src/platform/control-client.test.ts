import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createControlClient } from './control-client.ts';

let folder: string;
let supervisor: Server;
let requests: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  requests = 0;
  supervisor = createServer((_, response) => {
    requests += 1;
    response.end('{"project":"shop"}');
  });
  await new Promise<void>((resolve) => supervisor.listen(join(folder, 'control.sock'), resolve));
});
afterEach(async () => {
  await new Promise((resolve) => supervisor.close(resolve));
  await rm(folder, { recursive: true });
});

const client = () => createControlClient({ socketPath: join(folder, 'control.sock'), lockFile: join(folder, 'lock') });

it('asks the supervisor whose socket only this user can make', async () => {
  expect(await client().state()).toEqual({ project: 'shop' });
});

it('sends nothing to a socket that another user may have made', async () => {
  await chmod(folder, 0o777);
  await expect(client().state()).rejects.toMatchObject({ code: 'folder_not_private' });
  expect(requests).toBe(0);
});
