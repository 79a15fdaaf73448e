import { existsSync, openSync } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock } from '../shared/testing/fake-clock.ts';
import { createJournal, isOfThisVersion, readAnyJournal, readJournal } from './journal.ts';
import { JOURNAL_VERSION } from './journal-records.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  file = join(folder, 'journal.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('has each record as soon as it was written, with the time since the run began', async () => {
  const clock = createFakeClock();
  const journal = createJournal(file, clock);
  journal.write({ type: 'phase', phase: 'method', state: 'begin' });
  clock.advance(1_500);
  journal.write({ type: 'event', event: 'breaker.open', edge: 'orders-payments' });
  // Not closed: a reader beside the run, or after its kill, sees both.
  const { records, torn } = await readJournal(file);
  expect(torn).toBe(false);
  expect(records).toEqual([
    { type: 'phase', at: '2026-11-21T00:00:00.000Z', ms: 0, phase: 'method', state: 'begin' },
    { type: 'event', at: '2026-11-21T00:00:01.500Z', ms: 1_500, event: 'breaker.open', edge: 'orders-payments' },
  ]);
  await journal.close();
});

it('is readable up to a last line that was torn', async () => {
  const journal = createJournal(file, createFakeClock());
  journal.write({ type: 'phase', phase: 'method', state: 'begin' });
  await journal.close();
  await appendFile(file, '{"type":"ord');
  const { records, torn } = await readJournal(file);
  expect(records).toHaveLength(1);
  expect(torn).toBe(true);
});

it('is refused when a line before the last is none', async () => {
  await writeFile(file, 'nonsense\n{"type":"phase"}\n');
  await expect(readJournal(file)).rejects.toMatchObject({ code: 'invalid_journal', why: 'line 1 is not a record' });
});

it('of another version is refused, because its verdicts may have other words', async () => {
  const record = { type: 'run', at: '2026-11-21T00:00:00.000Z', ms: 0 };
  await writeFile(file, `${JSON.stringify({ ...record, version: JOURNAL_VERSION })}\n`);
  expect((await readJournal(file)).records).toHaveLength(1);
  await writeFile(file, `${JSON.stringify({ ...record, version: 1 })}\n`);
  await expect(readJournal(file)).rejects.toMatchObject({ exitCode: 2, why: expect.stringContaining('version 2') });
  const { records } = await readAnyJournal(file);
  expect(isOfThisVersion(records)).toBe(false);
});

it('never overwrites another', () => {
  createJournal(file, createFakeClock());
  expect(() => createJournal(file, createFakeClock())).toThrow('EEXIST');
});

// The device that is always full is Linux's.
it.runIf(existsSync('/dev/full'))('on a full disk says so, and neither throws nor rejects', async () => {
  const journal = createJournal(file, createFakeClock(), () => openSync('/dev/full', 'a'));
  expect(journal.problem()).toBeUndefined();
  journal.write({ type: 'phase', phase: 'method', state: 'begin' });
  await journal.sync();
  expect(journal.problem()).toContain('ENOSPC');
  await journal.close();
});
