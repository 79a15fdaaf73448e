// Goal: docs/tutorial.md shows what its reader sees.
// Method: each ```sh block is run as it is written, and the ```text block behind it is compared with what the command prints
// on standard output. Ids, times and measures differ from run to run; everything else must be equal. `--update` writes the page.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { openShell, type Shell } from './support/cli-run.ts';

const file = join(cloneRoot(), 'docs/tutorial.md');
const STEP = /(```sh\n(.+)\n```\n)(?:\n```text\n([\s\S]*?)```\n)?/g;
const ID = /\b[0-9a-f]{6,}(?:-[0-9a-f]{4,})*\b/g;
const LIMIT_MS = 400_000;

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
});
afterAll(() => shell.remove());

/** Without what differs from run to run: times, ids, measures with their unit, bars, and line breaks. */
function comparable(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b\d{8}-\d{6}\b/g, 'TIME')
    .replace(ID, 'ID')
    .replace(/\b\d[\d.,]* ?(?:ms|s|min)\b/g, 'TOOK')
    .replace(/(?:TOOK ?)+/g, 'TOOK ')
    .replace(/[█·]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function runLine(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: cloneRoot(), env: shell.env, maxBuffer: 1 << 26 };
    execFile('/bin/sh', ['-c', line], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout: stdout.replaceAll(shell.home, '.shop'), stderr }),
    );
  });
}

it(
  'docs/tutorial.md shows what each of its commands prints',
  async () => {
    const page = await readFile(file, 'utf8');
    /** Ids of the page, and those of this run in their places. */
    const ids = new Map<string, string>();
    let shown = page;
    for (const [step, command = '', line = '', output] of page.matchAll(STEP)) {
      const { code, stdout, stderr } = await runLine(line.replaceAll(ID, (id) => ids.get(id) ?? id));
      expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
      if (output === undefined) continue;
      const now = stdout.match(ID) ?? [];
      for (const [index, id] of (output.match(ID) ?? []).entries()) ids.set(id, now[index] ?? id);
      if (comparable(output) !== comparable(stdout)) {
        shown = shown.replace(step, () => `${command}\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`);
      }
    }
    await expect(shown).toMatchFileSnapshot(file);
  },
  LIMIT_MS,
);
