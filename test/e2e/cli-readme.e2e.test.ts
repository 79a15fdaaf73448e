// Goal: every command the README shows does what it is shown for.
// Method: the lines of its ```sh blocks, in their order, through npx as they are written. `npm start` and `npm test`
// are left to continuous integration, which runs them in a separate clone.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { openShell, type Shell } from './support/cli-run.ts';

const readme = await readFile(join(cloneRoot(), 'README.md'), 'utf8');
const lines = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => line !== '' && !/^npm (start|test)\b/.test(line));

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
});
afterAll(() => shell.remove());

function runLine(line: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      '/bin/sh',
      ['-c', line],
      { cwd: cloneRoot(), env: shell.env, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

it('shows commands', () => {
  expect(lines.length).toBeGreaterThan(5);
});

it.each(lines)(
  '%s',
  async (line) => {
    const { code, output } = await runLine(line);
    expect(code, output).toBe(0);
  },
  120_000,
);
