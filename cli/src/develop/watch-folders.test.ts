// Goal: no save is missed, however an editor writes. Method: real files in a separate folder.
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchFolders } from './watch-folders.ts';

let root: string;
let seen: string[];
let watching: Disposable;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-watch-'));
  await write('services/orders/src/main.ts', '1');
  seen = [];
  const onProblem = (error: Error) => {
    throw error;
  };
  watching = await watchFolders({
    root,
    folders: ['services', 'missing'],
    onSave: (files) => seen.push(...files),
    onProblem,
  });
});

afterEach(async () => {
  watching[Symbol.dispose]();
  await rm(root, { recursive: true });
});

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

const seenSoon = () => expect.poll(() => seen, { timeout: 10_000 });

it('reports a file that is saved, once', async () => {
  await write('services/orders/src/main.ts', '2');
  await seenSoon().toEqual(['services/orders/src/main.ts']);
});

it('reports a file that is replaced by another, each time', async () => {
  for (const text of ['2', '3']) {
    seen.length = 0;
    await write('draft', text);
    await rename(join(root, 'draft'), join(root, 'services/orders/src/main.ts'));
    await seenSoon().toEqual(['services/orders/src/main.ts']);
  }
});

it('reports files of folders that are made afterwards', async () => {
  await write('services/orders/src/saga/deep/step.ts', '1');
  await seenSoon().toContain('services/orders/src/saga/deep/step.ts');
  await write('services/orders/src/saga/deep/later.ts', '2');
  await seenSoon().toContain('services/orders/src/saga/deep/later.ts');
});

it('reports files of a folder that replaces one that was removed', async () => {
  await rm(join(root, 'services/orders/src'), { recursive: true });
  await seenSoon().toContain('services/orders/src/main.ts');
  seen.length = 0;
  await write('services/orders/src/main.ts', '2');
  await seenSoon().toContain('services/orders/src/main.ts');
});

it('reports a file that is removed', async () => {
  await rm(join(root, 'services/orders/src/main.ts'));
  await seenSoon().toEqual(['services/orders/src/main.ts']);
});

it('reports nothing of drafts and backups, and nothing once it is disposed', async () => {
  await write('services/orders/src/.main.ts.swp', '1');
  await write('services/orders/src/main.ts~', '1');
  await write('services/orders/src/other.ts', '1');
  await seenSoon().toEqual(['services/orders/src/other.ts']);
  watching[Symbol.dispose]();
  await write('services/orders/src/main.ts', '3');
  await seenSoon().toEqual(['services/orders/src/other.ts']);
});
