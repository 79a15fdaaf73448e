import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseUnwritable } from '../output/report-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'load-reports-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('reports', () => {
  it('that can be written are not touched before there is something to write', async () => {
    await refuseUnwritable({ junit: join(folder, 'load.xml'), html: join(folder, 'k6.html') });
    expect(await readdir(folder)).toEqual([]);
  });

  it('that cannot be written are refused before the load is run for nothing', async () => {
    const missing = join(folder, 'not', 'there.xml');
    await expect(refuseUnwritable({ junit: missing })).rejects.toMatchObject({
      code: 'report_not_writable',
      what: `cannot write ${missing}`,
    });
    await expect(refuseUnwritable({ html: folder })).rejects.toMatchObject({
      code: 'report_not_writable',
      why: 'it is a folder',
    });
  });
});
