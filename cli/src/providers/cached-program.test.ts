import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCached } from './cached-program.ts';
import { installProgram } from './install-program.ts';

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cached-'));
  target = join(folder, 'k6-v2', 'k6');
});
afterEach(() => rm(folder, { recursive: true }));

function install(content: string): Promise<void> {
  return installProgram({ target, draft: join(folder, 'draft') }, async (draft) => {
    await writeFile(join(draft, 'made'), content);
    return join(draft, 'made');
  });
}

describe('a program in the cache', () => {
  it('is used while it is what was installed', async () => {
    await install('#!/bin/sh\n');
    expect(await checkCached(target)).toMatchObject({ available: true, detail: target });
  });

  it('that was changed is not used, which is reported, and is replaced by the next installation', async () => {
    await install('#!/bin/sh\n');
    await appendFile(target, 'echo other\n');
    expect(await checkCached(target)).toMatchObject({
      available: false,
      detail: expect.stringContaining('its checksum has changed'),
    });
    await install('#!/bin/sh\n');
    expect(await checkCached(target)).toMatchObject({ available: true });
  });

  it('of an older version is used, and guarded from then on', async () => {
    await install('#!/bin/sh\n');
    await rm(`${target}.sha256`);
    expect(await checkCached(target)).toMatchObject({ available: true });
    await appendFile(target, 'echo other\n');
    expect(await checkCached(target)).toMatchObject({ available: false });
  });

  it('that does not exist is distinguished from one that was changed', async () => {
    expect(await checkCached(target)).toMatchObject({
      available: false,
      detail: 'neither downloaded nor built on this machine yet',
    });
  });
});
