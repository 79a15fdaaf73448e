import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalRecord } from '../journal-records.ts';
import { syntheticJournal } from '../report/testing/synthetic-journal.ts';
import { annotateRuns } from './write-reports.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-annotate-'));
});
afterEach(() => rm(root, { recursive: true }));

async function annotated(journal: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const output = { note: (text: string) => lines.push(text), warn: (text: string) => lines.push(`warning: ${text}`) };
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: root };
  await annotateRuns([{ journal }], {}, { env, output, root });
  return lines;
}

it('what an experiment did not prove is annotated in its file, at the line that names it', async () => {
  const records = syntheticJournal();
  const { file } = records.find((record): record is JournalRecord & { type: 'run' } => record.type === 'run') as {
    file: string;
  };
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(
    join(root, file),
    'title: slow\nmethod:\n  - probe: x\n    name: immediate responses with the breaker open\n',
  );
  const journal = join(root, 'journal.jsonl');
  await writeFile(journal, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const lines = await annotated(journal);
  const place = `file=${file},line=4,title=`;
  expect(lines.find((line) => line.startsWith('::error ') && line.includes(place))).toContain('p95 4.52 s');
  expect(lines.filter((line) => line.startsWith('::warning '))).not.toEqual([]);
});

it('a journal that cannot be read is a warning: the verdict is reported by then', async () => {
  expect(await annotated(join(root, 'absent.jsonl'))).toEqual([
    expect.stringMatching(/^warning: no annotations were written: /),
  ]);
});
