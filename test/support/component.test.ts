// Goal: a server of a test run ends with all that it has started. Method: in its place a shell, whose child leads a separate
// session, as a backend of PostgreSQL does, and notices nothing.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Launch } from '../../cli/src/providers/component.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { startComponent } from './component.ts';
import { isAlive } from './processes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'component-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nothing = async () => undefined;
const read = (file: string) => Number(readFileSync(join(folder, file), 'utf8'));

it.runIf(process.platform === 'linux')('a server takes its children along, also those of another session', async () => {
  const script = `setsid sh -c 'echo $$ >child; exec sleep 600' & echo $$ >server; wait`;
  const launch: Launch = {
    component: 'postgres',
    kind: 'installed',
    detail: 'a shell',
    run: {
      type: 'process',
      spec: {
        command: '/bin/sh',
        args: ['-c', script],
        env: { PATH: process.env.PATH ?? '' },
        cwd: folder,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 1_000,
      },
    },
    address: { host: '127.0.0.1', port: 0 },
    info: {},
    prepare: nothing,
    probe: async () => expect([read('server'), read('child')].every(isAlive)).toBe(true),
    setUp: nothing,
    cleanUp: nothing,
  };
  const running = await startComponent(launch, join(folder, 'log'));
  const started = [read('server'), read('child')];
  await running.stop();
  await eventually('both to have ended', { withinMs: 5_000, seen: () => started.map(isAlive) }, () => {
    return !started.some(isAlive);
  });
});
