import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseUnwritable, writeReportFiles } from './report-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-reports-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const notRendered = (): string => {
  throw new Error('rendered');
};

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

  it('are rendered and written when they were asked for', async () => {
    const html = join(folder, 'run.html');
    expect(await writeReportFiles({ html }, { junit: notRendered, html: () => '<p>' })).toEqual([html]);
    expect(await readFile(html, 'utf8')).toBe('<p>');
    expect(await readdir(folder)).toEqual(['run.html']);
  });

  it('beside a journal are for its user only', async () => {
    const junit = join(folder, 'junit.xml');
    await writeReportFiles({ junit }, { junit: () => '' }, 0o600);
    expect((await stat(junit)).mode & 0o777).toBe(0o600);
  });

  it('whose folder has gone since are errors that name the file', async () => {
    const junit = join(folder, 'gone', 'junit.xml');
    await expect(writeReportFiles({ junit }, { junit: () => '' })).rejects.toMatchObject({
      code: 'report_not_writable',
      what: `cannot write ${junit}`,
    });
  });
});
