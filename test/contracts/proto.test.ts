/** The gRPC contract is well-formed, breaks no client of the last release, and the check finds what would. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastRelease } from './released.ts';

const root = join(import.meta.dirname, '../..');
const released = join(lastRelease(), 'proto');

/** Runs buf, which needs no network for any of this; resolves with its exit code and what it said. */
function buf(...args: readonly string[]): Promise<{ code: number; said: string }> {
  const command = join(root, 'node_modules/.bin/buf');
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { cwd: root, timeout: 30_000 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), said: stdout + stderr });
    });
  });
}

describe('proto/', () => {
  it('follows the lint rules', async () => {
    expect(await buf('lint', 'proto')).toEqual({ code: 0, said: '' });
  });

  it('breaks no client of the last release', async () => {
    expect(await buf('breaking', 'proto', '--against', released)).toEqual({ code: 0, said: '' });
  });
});

describe('a changed contract', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-proto-'));
    await cp(join(root, 'proto'), folder, { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function changed(from: string, to: string) {
    const file = join(folder, 'stock.proto');
    const text = await readFile(file, 'utf8');
    expect(text).toContain(from);
    await writeFile(file, text.replace(from, to));
    return buf('breaking', folder, '--against', released);
  }

  it.each([
    ['another field number', 'int32 quantity = 2;', 'int32 quantity = 3;', 'field "2"'],
    ['another type', 'int32 quantity = 2;', 'string quantity = 2;', 'changed type from "int32" to "string"'],
    ['another name', 'int32 quantity = 2;', 'int32 amount = 2;', 'changed name from "quantity" to "amount"'],
    ['a removed field whose number is not reserved', '  int32 quantity = 2;\n', '', 'without reserving'],
    ['a removed enum value', '  RESERVE_OUTCOME_RELEASED = 3;\n', '', 'without reserving'],
    ['a removed method', '  rpc Release(ReleaseRequest) returns (ReleaseResponse);\n', '', 'RPC "Release"'],
  ])('%s is found', { tags: ['deliberate-break'] }, async (_title, from, to, said) => {
    const found = await changed(from, to);
    expect(found.code).toBe(100);
    expect(found.said).toContain(said);
  });

  it.each([
    ['one more field', 'int32 quantity = 2;', 'int32 quantity = 2;\n  string note = 3;'],
    ['a removed field, its number and name reserved', 'int32 quantity = 2;', 'reserved 2;\n  reserved "quantity";'],
  ])('%s is allowed', async (_title, from, to) => {
    expect(await changed(from, to)).toEqual({ code: 0, said: '' });
  });
});
