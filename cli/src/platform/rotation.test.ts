import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLog } from './log-reader.ts';
import { rotateIfLarge, rotateLogs } from './rotation.ts';

let folder: string;
let file: string;
let writer: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  file = join(folder, 'orders-1.log');
  writer = openSync(file, 'a');
});

afterEach(async () => {
  closeSync(writer);
  await rm(folder, { recursive: true });
});

it('leaves a log alone that is within its limit', async () => {
  writeSync(writer, 'short\n');
  expect(await rotateIfLarge(file, 6)).toBe(false);
  expect(await readFile(file, 'utf8')).toBe('short\n');
});

it('moves a large log aside while its writer goes on in the same file', async () => {
  writeSync(writer, 'before the limit\n');
  await rotateLogs(folder, 10);
  writeSync(writer, 'after\n');
  expect(await readFile(`${file}.1`, 'utf8')).toBe('before the limit\n');
  // Without O_APPEND the writer would go on at its old place and leave a hole of zeros.
  expect(await readFile(file, 'utf8')).toBe('after\n');
});

it('is followed across a rotation by a reader', async () => {
  const cursor = openLog(folder, 'orders-1');
  writeSync(writer, 'one, longer than what follows\n');
  expect((await cursor.read()).map(({ text }) => text)).toEqual(['one, longer than what follows']);
  await rotateIfLarge(file, 1);
  writeSync(writer, 'two\nhalf');
  expect((await cursor.read()).map(({ text }) => text)).toEqual(['two']);
  writeSync(writer, ' a line\n');
  expect((await cursor.read()).map(({ text }) => text)).toEqual(['half a line']);
});
