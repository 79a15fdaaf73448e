import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PlatformConnection } from '../platform/connection.ts';
import { currentRoundFile } from '../platform/current-round.ts';
import { cloneRoot, openProject, type Project } from '../platform/project.ts';
import { undoFile } from '../platform/undo-log.ts';
import { readClean } from './read-clean.ts';

let home: string;
let project: Project;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-clean-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
});
afterEach(() => rm(home, { recursive: true }));

const connection = (): PlatformConnection => {
  const fault = { id: '15fbad', fault: 'latency', target: 'orders-payments', status: 'active', expiresAt: '' };
  const state = { edges: [], instances: [], faults: [fault] };
  return { project, control: { state: async () => state } } as unknown as PlatformConnection;
};

async function store(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

it('reads the faults of the supervisor, and of the undo file', async () => {
  expect((await readClean(connection())).faults).toEqual(['latency on orders-payments (15fbad)']);
});

it('says nothing while a drill is on, whatever acts', async () => {
  await store(currentRoundFile(project), '20260101-120000');
  await store(undoFile(project), 'not read');
  await expect(readClean(connection())).rejects.toThrow('a drill is on');
});
