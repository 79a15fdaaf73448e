import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendLine, parseJournal, readMatrixJournal } from './journal.ts';
import { aPair, aRecord, aStart } from './testing/records.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'alert-matrix-'));
});
afterEach(() => rm(folder, { recursive: true }));

const [down, kill] = [aPair('down'), aPair('kill')] as const;
const text = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe('a journal', () => {
  it('is read as it was written, also after a kill in the middle of a line', async () => {
    const file = join(folder, 'journal.jsonl');
    await appendLine(file, aStart([down, kill]));
    await appendLine(file, aRecord(down));
    await writeFile(file, '{"type":"pair","pai', { flag: 'a' });
    await appendLine(file, { type: 'end', verdict: 'complete', tookMs: 7 });
    expect(await readMatrixJournal(file)).toEqual({ start: aStart([down, kill]), records: [aRecord(down)], tookMs: 7 });
  });

  it('has the last record of a pair that was measured again, and the time of all parts', () => {
    const again = aRecord(down, { platform: 'shop-chaos-2' });
    const part = (tookMs: number) => ({ type: 'end', verdict: 'interrupted', tookMs });
    const journal = parseJournal(
      text(aStart([down, kill]), aRecord(down, { problems: ['busy'] }), part(5), again, aRecord(kill), part(6)),
    );
    expect(journal.records).toEqual([again, aRecord(kill)]);
    expect(journal.tookMs).toBe(11);
  });

  it.each([
    ['is not there', undefined, 'ENOENT'],
    ['is of another version', text({ ...aStart([]), version: 'shop.alert-matrix/v0' }), 'shop.alert-matrix/v0'],
    ['has no beginning', text(aRecord(down)), 'its first line is not the start of a matrix'],
  ])('that %s is refused', async (_, content, why) => {
    const file = join(folder, 'journal.jsonl');
    if (content !== undefined) await writeFile(file, content);
    await expect(readMatrixJournal(file)).rejects.toMatchObject({
      code: 'invalid_journal',
      why: expect.stringContaining(why),
    });
  });
});
