/*
 * Goal: what a drill had injected when its supervisor was killed does not outlive the next start unnoticed.
 * Method: an undo log as the killed supervisor leaves it, without a platform; a process that is really frozen.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { assertNoOrphanedFaults } from '../platform/orphaned-faults.ts';
import { cloneRoot, openProject, type Project } from '../platform/project.ts';
import { createUndoLog, type FaultRecord, openFaults, undoFile } from '../platform/undo-log.ts';
import { processState } from '../process/proc.ts';
import { identifyProcess } from '../process/process-identity.ts';
import { waitUntil } from '../shared/wait-until.ts';
import { revertHiddenOrphans } from './revert-orphaned-faults.ts';

let home: string;
let project: Project;
let said: string[];
const children: ChildProcess[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-orphans-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
  said = [];
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  vi.restoreAllMocks();
  await rm(home, { recursive: true });
});

async function left(fault: Pick<FaultRecord, 'fault' | 'target' | 'undo'> & Partial<FaultRecord>): Promise<void> {
  const record = {
    type: 'fault',
    id: '15fbad',
    time: '2026-01-01T00:00:00.000Z',
    parameters: {},
    ttlMs: 60_000,
  } as const;
  await createUndoLog(undoFile(project)).begin({ ...record, hidden: true, ...fault });
}

const readOnly = {
  fault: 'read-only',
  target: 'payments-db',
  undo: { id: '15fbad', database: 'payments' },
  needsPlatform: true,
} as const;

it('continues a process that a drill has frozen, and forgets it', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  const process = await identifyProcess(child.pid as number);
  child.kill('SIGSTOP');
  await waitUntil('the process to be frozen', 2_000, () => (stateOf(child) === 'T' ? true : undefined));
  await left({
    fault: 'pause',
    target: 'shipping',
    undo: { victims: [{ name: 'shipping-1', process }], processes: [process] },
  });
  expect(await readFile(undoFile(project), 'utf8')).not.toContain('shipping');
  await expect(assertNoOrphanedFaults(project, { isStart: true })).resolves.toBeUndefined();
  await expect(assertNoOrphanedFaults(project)).rejects.toMatchObject({ exitCode: 6 });
  await revertHiddenOrphans(project);
  expect(stateOf(child)).not.toBe('T');
  expect(await openFaults(undoFile(project))).toEqual([]);
  expect(said).toEqual(['supervisor: pause on shipping, which a drill had left, is reverted']);
});

const stateOf = ({ pid }: ChildProcess) => processState(pid as number)?.state;

it('says what waits for PostgreSQL, keeps its undo, and refuses commands meanwhile with exit code 6', async () => {
  await left(readOnly);
  await revertHiddenOrphans(project);
  expect(said).toEqual([expect.stringMatching(/^supervisor: read-only on payments-db, .* is not reverted yet: /)]);
  expect(await openFaults(undoFile(project))).toMatchObject([{ fault: 'read-only', hidden: true }]);
  await expect(assertNoOrphanedFaults(project, { isStart: true })).resolves.toBeUndefined();
  await expect(assertNoOrphanedFaults(project)).rejects.toMatchObject({ code: 'fault_not_reverted', exitCode: 6 });
});

it('leaves faults of commands to people', async () => {
  await left({ ...readOnly, hidden: false });
  await revertHiddenOrphans(project);
  expect(said).toEqual([]);
  expect(await openFaults(undoFile(project))).toHaveLength(1);
});
