import { appendFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDeployJournal, deployJournalFile } from './journal.ts';
import type { JournalRecord } from './run.ts';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

const step = (text: string): JournalRecord => ({ time: '2026-11-24T09:00:00.000Z', run: 'a', kind: 'step', text });

it('has what was appended, for its user only, and nothing before that', async () => {
  const journal = createDeployJournal({ stateDir }, () => undefined);
  expect(await journal.read()).toEqual([]);
  await journal.append(step('one'));
  await journal.append(step('two'), step('three'));
  expect(await journal.read()).toEqual([step('one'), step('two'), step('three')]);
  expect((await stat(deployJournalFile({ stateDir }))).mode & 0o777).toBe(0o600);
});

it('reports a line that a kill has cut off, and goes on after it', async () => {
  const problems: string[] = [];
  const journal = createDeployJournal({ stateDir }, (problem) => problems.push(problem));
  await journal.append(step('one'));
  await appendFile(deployJournalFile({ stateDir }), '{"time":"2026-11-');
  await journal.append(step('two'));
  expect(await journal.read()).toEqual([step('one'), step('two')]);
  expect(problems).toEqual([expect.stringContaining('deploys.jsonl:2 ')]);
});
