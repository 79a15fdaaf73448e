import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordReader, parseRecord } from './records.ts';
import { aRecord } from './testing/records.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'load-records-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('parseRecord', () => {
  it('reads what a scenario prints of an order', () => {
    expect(parseRecord(JSON.stringify(aRecord()))).toEqual(aRecord());
  });

  it.each(['', 'Insufficient VUs', '{"half":', '{"phase":"whole"}', '[1]', '{"phase":1,"key":"k","at":1,"tookMs":1}'])(
    'takes %j for none',
    (line) => {
      expect(parseRecord(line)).toBeUndefined();
    },
  );
});

describe('the reader', () => {
  it('gives each record once, also when it looks in the middle of a line', async () => {
    const file = join(folder, 'console.ndjson');
    const reader = createRecordReader(file);
    expect(await reader.read()).toEqual([]);
    const [first, second] = [aRecord({ index: 0 }), aRecord({ index: 1, kind: 'köstlich' })];
    const line = Buffer.from(`${JSON.stringify(second)}\n`);
    const inTheMiddle = line.indexOf('ö') + 1;
    await appendFile(file, `${JSON.stringify(first)}\n`);
    await appendFile(file, line.subarray(0, inTheMiddle));
    expect(await reader.read()).toEqual([first]);
    await appendFile(file, line.subarray(inTheMiddle));
    expect(await reader.read()).toEqual([second]);
    expect(await reader.read()).toEqual([]);
  });

  it('keeps what else was printed, which explains why there are no records', async () => {
    const file = join(folder, 'other.ndjson');
    await appendFile(file, 'GoError: no such file\n');
    const reader = createRecordReader(file);
    expect(await reader.read()).toEqual([]);
    expect(reader.others).toEqual(['GoError: no such file']);
  });
});
