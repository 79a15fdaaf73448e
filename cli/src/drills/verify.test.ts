import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { systemClock } from '../shared/clock.ts';
import { findScenario, readScenarios } from './format/catalog.ts';
import { brokenLink } from './journal/chain.ts';
import { createDrillJournal, parseDrillJournal, readDrillJournal, voidDrillJournal } from './journal/journal-file.ts';
import type { DrillRecord } from './journal/records.ts';
import { candidatesOf } from './seal/draw.ts';
import { seal } from './seal/envelope.ts';
import { aJournal } from './testing/a-journal.ts';
import { verifyJournal } from './verify.ts';

const scenarios = await readScenarios(cloneRoot());
const candidates = candidatesOf(scenarios, 2, { hasDeploy: false });
const envelope = seal(scenarios, { seed: '7', level: 2, candidates, build: 'x' });
const journal = aJournal({ scenario: envelope.scenario, envelope, endsAt: 60 });

const verdictsOf = (records: readonly DrillRecord[], isTorn = false, of = scenarios) =>
  Object.fromEntries(verifyJournal({ records, isTorn }, of).map(({ id, verdict }) => [id, verdict]));
const PASS = { chain: 'pass', end: 'pass', commitment: 'pass', draw: 'pass' };
const write = (records: readonly DrillRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-drill-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a journal', () => {
  it('that nothing was done to passes', () => {
    expect(verdictsOf(journal)).toEqual(PASS);
  });

  it('passes in another serialisation, with other spaces and another order of keys', () => {
    const shuffled = journal.map((record) => Object.fromEntries(Object.entries(record).toReversed()));
    const text = shuffled.map((record) => `${JSON.stringify(record, null, 1).replaceAll('\n', ' ')}\n`).join('');
    expect(verdictsOf(parseDrillJournal(text).records)).toEqual(PASS);
  });

  it('does not pass with a line that was removed, exchanged, repeated or edited', () => {
    const index = fc.nat({ max: journal.length - 1 });
    const edits: Record<string, (records: DrillRecord[], at: number) => void> = {
      removed: (records, at) => records.splice(at, 1),
      exchanged: (records, at) => {
        const next = (at + 1) % records.length;
        [records[at], records[next]] = [records[next] as DrillRecord, records[at] as DrillRecord];
      },
      repeated: (records, at) => records.splice(at, 0, records[at] as DrillRecord),
      edited: (records, at) => {
        records[at] = { ...(records[at] as DrillRecord), ms: 1 + (records[at] as DrillRecord).ms };
      },
    };
    for (const [name, edit] of Object.entries(edits)) {
      fc.assert(
        fc.property(index, (at) => {
          const records = [...journal];
          edit(records, at);
          const { chain, end } = verdictsOf(records);
          expect([chain, end], `${name} at ${at}`).toContain('fail');
        }),
        { numRuns: 200 },
      );
    }
  });

  it('names the record that does not continue the one before', () => {
    const records = journal.map((record, index) => (index === 12 ? { ...record, ms: 1 } : record));
    expect(brokenLink(records)).toEqual({ seq: 13, why: 'record 13 (second) does not continue the one before it' });
  });

  it('whose last lines are missing does not pass', () => {
    expect(verdictsOf(journal.slice(0, -1))).toMatchObject({ chain: 'pass', end: 'fail' });
    expect(verdictsOf(journal, true)).toMatchObject({ chain: 'pass', end: 'fail' });
  });

  it('with another envelope than it committed to does not pass, though its chain was made again', () => {
    const other = aJournal({ scenario: envelope.scenario, envelope, endsAt: 60 });
    const forged = aJournal({
      scenario: findScenario(scenarios, 'd201'),
      envelope: { ...envelope, seed: '8' },
      endsAt: 60,
    });
    const start = other[0] as DrillRecord;
    expect(verdictsOf([start, ...forged.slice(1)])).toMatchObject({ commitment: 'fail' });
    expect(verdictsOf(forged)).toMatchObject({ chain: 'pass', commitment: 'pass', draw: 'fail' });
  });

  it('of other scenarios says that it cannot be compared', () => {
    expect(verdictsOf(journal, false, scenarios.slice(1))).toEqual({ ...PASS, draw: 'unknown' });
  });

  it('that was not revealed has no commitment to compare', () => {
    const hidden = journal.slice(0, 20);
    expect(verdictsOf(hidden)).toMatchObject({ commitment: 'unknown', draw: 'unknown' });
  });
});

describe('the file of a journal', () => {
  it('has what was written, chained, and its length at the end', async () => {
    const file = join(folder, 'written.jsonl');
    const written = createDrillJournal(file, systemClock);
    written.write({ type: 'note', text: 'it begins', by: 'ada' });
    written.write({ type: 'fixed', by: 'ada' });
    expect(written.close()).toMatchObject({ type: 'closed', records: 3, seq: 3 });
    const { records, isTorn } = await readDrillJournal(file);
    expect(records.map(({ type }) => type)).toEqual(['note', 'fixed', 'closed']);
    expect(records).toEqual(written.records());
    expect([isTorn, brokenLink(records)]).toEqual([false, undefined]);
  });

  it('is not begun twice', () => {
    const file = join(folder, 'twice.jsonl');
    createDrillJournal(file, systemClock).close();
    expect(() => createDrillJournal(file, systemClock)).toThrow(/EEXIST/);
  });

  it('that a kill has torn is read up to its last whole record', async () => {
    const file = join(folder, 'torn.jsonl');
    const text = write(journal);
    await writeFile(file, text);
    await truncate(file, Buffer.byteLength(text) - 20);
    const torn = await readDrillJournal(file);
    expect([torn.isTorn, torn.records.length]).toEqual([true, journal.length - 1]);
  });

  it('whose writer was killed is void, with a whole chain; one that was closed stays as it is', async () => {
    const file = join(folder, 'killed.jsonl');
    const written = createDrillJournal(file, systemClock);
    written.write({ type: 'note', text: 'it begins', by: 'ada' });
    await appendFile(file, '{"seq":2,"ty');
    await voidDrillJournal(file, new Date());
    const { records, isTorn } = await readDrillJournal(file);
    expect(records.map(({ type }) => type)).toEqual(['note', 'end', 'closed']);
    expect(records[1]).toMatchObject({ why: 'void', reason: 'the supervisor was killed' });
    expect([isTorn, brokenLink(records)]).toEqual([false, undefined]);
    await voidDrillJournal(file, new Date());
    expect((await readDrillJournal(file)).records).toEqual(records);
  });

  it.each([
    ['a missing file', undefined],
    ['a file without records', ''],
    ['a file that is none', '{"type":"x"}\n'],
  ])('is refused with exit code 2 for %s', async (_, text) => {
    const file = join(folder, 'none.jsonl');
    await rm(file, { force: true });
    if (text !== undefined) await writeFile(file, text);
    await expect(readDrillJournal(file)).rejects.toMatchObject({ code: 'invalid_journal', exitCode: 2 });
  });
});
