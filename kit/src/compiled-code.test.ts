// Goal: a bundle runs as `node FILE` runs it, with the code that an earlier process has compiled, and without it whatever becomes of that.
// Method: processes of small bundles. V8 compares no more than lengths, so that code which was kept of another text shows where it is run.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
let kept: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compiled-code-'));
  kept = await mkdtemp(join(folder, 'kept-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code?: number;
}

/** Runs a bundle in a process. */
async function run(text: string, { name = 'bundle.cjs', into = kept as string | null, worthKeepingMs = 0 } = {}) {
  const file = join(folder, name);
  await writeFile(file, text);
  const args = JSON.stringify([file, into, worthKeepingMs]);
  const program = `import { runBundle } from ${JSON.stringify(join(import.meta.dirname, 'compiled-code.ts'))};
    const [file, folder, worthKeepingMs] = ${args};
    runBundle(file, folder ?? undefined, worthKeepingMs);`;
  const options = { timeout: 20_000 };
  const started = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], options);
  const ended: Ended = await started.catch((error) => error);
  return { file, ...ended };
}

const files = async (part = '') => (await readdir(kept)).filter((name) => name.includes(part));
/** Its function is compiled when it is called. */
const saying = (word: string) => `function word() { return '${word}'; }\nconsole.log(word());`;

it('runs a bundle as a CommonJS module', async () => {
  const { stdout, stderr, file } = await run(`
    const { sep } = require('node:path');
    console.log(JSON.stringify([sep, __filename, __dirname, this === exports, exports === module.exports]));`);
  expect(JSON.parse(stdout)).toEqual(['/', file, folder, true, true]);
  expect(stderr).toBe('');
});

it('counts the lines of the bundle', async () => {
  const { stderr, file, code } = await run(`const first = 1; throw new Error('first');`);
  expect(code).toBe(1);
  expect(stderr).toContain(`(${file}:1:24)`);
});

it('runs what an earlier process has compiled, functions that it has called included', async () => {
  expect((await run(saying('one'))).stdout).toBe('one\n');
  const [ofOne = ''] = await files();
  expect((await run(saying('two'))).stdout).toBe('two\n');
  const [ofTwo = ''] = (await files()).filter((name) => name !== ofOne);
  await writeFile(join(kept, ofOne), await readFile(join(kept, ofTwo)));
  expect((await run(saying('one'))).stdout).toBe('two\n');
});

describe('compiled code that is damaged', () => {
  it.each<[string, (code: Buffer) => Buffer]>([
    ['cut short', (code) => code.subarray(0, code.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['changed', (code) => Buffer.from(code.map((byte, at) => (at === code.length - 20 ? byte ^ 1 : byte)))],
  ])('is not run, and replaced: %s', async (_, damage) => {
    await run(saying('one'));
    const [name = ''] = await files();
    const path = join(kept, name);
    const whole = await readFile(path);
    await writeFile(path, damage(whole));
    expect((await run(saying('one'))).stdout).toBe('one\n');
    expect((await readFile(path)).length).toBe(whole.length);
  });
});

it('keeps nothing of a process that failed, or ended during its start', async () => {
  await run('process.exit(3);');
  await run('process.exit(0);', { worthKeepingMs: 60_000 });
  expect(await files()).toEqual([]);
});

it('keeps nothing without a folder, and fails no process because of one that is not there', async () => {
  expect(await run(saying('one'), { into: null })).toMatchObject({ stdout: 'one\n', stderr: '' });
  const absent = join(folder, 'absent');
  expect(await run(saying('one'), { into: absent })).toMatchObject({ stdout: 'one\n', stderr: '' });
  expect(await readdir(folder)).not.toContain('absent');
});

it('keeps the newest five of each bundle', async () => {
  await run(saying('another'), { name: 'another.cjs' });
  const texts = ['one', 'three', 'eleven', 'seventy', 'thousand', 'millionth'];
  let first = '';
  for (const [index, text] of texts.entries()) {
    await run(saying(text));
    const [newest = ''] = (await files('bundle')).filter((name) => name !== first);
    if (index === 0) {
      first = newest;
      await utimes(join(kept, first), 1, 1);
    }
  }
  expect(await files('bundle')).toHaveLength(5);
  expect(await files('bundle')).not.toContain(first);
  expect(await files('another')).toHaveLength(1);
});
