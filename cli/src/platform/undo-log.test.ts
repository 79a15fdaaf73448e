import { appendFile, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUndoLog, type FaultRecord, openFaults } from './undo-log.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chaos-undo-'));
  file = join(folder, 'chaos', 'undo.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const record = (id: string): FaultRecord => ({
  type: 'fault',
  id,
  time: '2026-01-01T00:00:00.000Z',
  fault: 'latency',
  target: 'orders-payments',
  parameters: { latency: 3000 },
  undo: { toxic: `latency_${id}`, edge: { listen: '127.0.0.1:1', nested: [1, null, 'ü'] } },
  ttlMs: 60_000,
});
const reverted = (id: string) => ({ id, time: '2026-01-01T00:00:01.000Z', why: 'asked for', evidence: 'gone' });

/** Nothing more can be appended to any file meanwhile. */
async function fullDisk() {
  const handle = await open(file, 'r');
  await handle.close();
  return {
    async during(work: () => Promise<unknown>): Promise<void> {
      const append = vi.spyOn(Object.getPrototypeOf(handle), 'appendFile').mockRejectedValue(new Error('ENOSPC'));
      await work().finally(() => append.mockRestore());
    },
  };
}

it('gives back what was written, the oldest first, to a process that reads the file later', async () => {
  const log = createUndoLog(file);
  await log.begin(record('a'));
  await log.begin(record('b'));
  expect(await openFaults(file)).toEqual([record('a'), record('b')]);
  expect(await createUndoLog(file).open()).toEqual([record('a'), record('b')]);
});

it('forgets what was reverted, and is empty when nothing is left', async () => {
  const log = createUndoLog(file);
  await log.begin(record('a'));
  await log.begin(record('b'));
  await log.reverted(reverted('b'));
  expect(await openFaults(file)).toEqual([record('a')]);
  await log.reverted(reverted('a'));
  expect(await readFile(file, 'utf8')).toBe('');
});

it('writes with the next record what a full disk has refused', async () => {
  const log = createUndoLog(file);
  for (const id of ['a', 'b', 'c']) await log.begin(record(id));
  await (await fullDisk()).during(() => expect(log.reverted(reverted('a'))).rejects.toThrow('ENOSPC'));
  expect((await openFaults(file)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  await log.reverted(reverted('b'));
  expect((await openFaults(file)).map(({ id }) => id)).toEqual(['c']);
});

it('is emptied on a full disk when nothing is left', async () => {
  const log = createUndoLog(file);
  for (const id of ['a', 'b']) await log.begin(record(id));
  await (await fullDisk()).during(async () => {
    await expect(log.reverted(reverted('a'))).rejects.toThrow('ENOSPC');
    await log.reverted(reverted('b'));
  });
  expect(await readFile(file, 'utf8')).toBe('');
});

it('ignores a line that a kill has cut off, and writes on behind it', async () => {
  const log = createUndoLog(file);
  await log.begin(record('a'));
  await appendFile(file, '{"type":"fault","id":"tor');
  expect(await openFaults(file)).toEqual([record('a')]);
  await log.begin(record('b'));
  expect(await openFaults(file)).toEqual([record('a'), record('b')]);
});

it('keeps concurrent writers apart', async () => {
  const log = createUndoLog(file);
  const ids = Array.from({ length: 20 }, (_, index) => `f${index}`);
  await Promise.all(ids.map((id) => log.begin(record(id))));
  await Promise.all(ids.slice(1).map((id) => log.reverted(reverted(id))));
  expect((await openFaults(file)).map(({ id }) => id)).toEqual(['f0']);
});

it('is readable by its user only', async () => {
  await createUndoLog(file).begin(record('a'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'chaos'))).mode & 0o777).toBe(0o700);
});

it('has nothing open where there is no file', async () => {
  expect(await openFaults(file)).toEqual([]);
});

it('that cannot be read is dirty, with its place and what to do', async () => {
  await createUndoLog(file).begin(record('a'));
  await appendFile(file, 'nonsense\n');
  await expect(openFaults(file)).rejects.toMatchObject({
    what: `cannot read the undo log: ${file}:2`,
    next: expect.stringContaining('chaos clear --all'),
    code: 'undo_log_unreadable',
  });
});

it('of another version of shopctl is dirty: its records are not guessed at', async () => {
  await createUndoLog(file).begin(record('a'));
  await appendFile(file, '{"type":"renamed","id":"a"}\n');
  await expect(openFaults(file)).rejects.toMatchObject({
    what: `cannot read the undo log: ${file}:2`,
    why: 'unknown record type "renamed", of another version of shopctl',
    code: 'undo_log_unreadable',
  });
});

describe('a fault of a drill', () => {
  it('is sealed, and cannot be read from its line, and has the length of every other', async () => {
    const log = createUndoLog(file);
    await log.begin({ ...record('a'), hidden: true });
    await log.begin({ ...record('b'), fault: 'down', parameters: {}, hidden: true });
    await log.reverted({ ...reverted('a'), hidden: true });
    const text = await readFile(file, 'utf8');
    for (const word of ['latency', 'orders-payments', 'down', 'toxic', 'gone']) expect(text).not.toContain(word);
    const lengths = text.trimEnd().split('\n');
    expect(new Set(lengths.map((line) => line.length)).size).toBe(1);
    expect(await openFaults(file)).toEqual([{ ...record('b'), fault: 'down', parameters: {}, hidden: true }]);
    await log.reverted({ ...reverted('b'), hidden: true });
    expect(await readFile(file, 'utf8')).toBe('');
  });

  it('cannot be read without the key, which is for this user alone', async () => {
    await createUndoLog(file).begin({ ...record('a'), hidden: true });
    const key = join(folder, 'chaos', 'undo.key');
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    await rm(key);
    await expect(openFaults(file)).rejects.toMatchObject({
      code: 'undo_log_unreadable',
      why: expect.stringContaining('its key is not there'),
    });
  });
});
