// Goal: progress ends on every terminal. Method: a real pseudoterminal, made by script(1).
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';

const program = `
  import { createOutput } from '${join(import.meta.dirname, 'output.ts')}';
  const output = createOutput({ stdout: process.stdout, stderr: process.stderr, env: {} });
  const progress = output.progress('stopping');
  setTimeout(() => progress.succeed('stopped'), 300);
`;

/** Runs the program on a terminal of that size, for 10 s at most; resolves with what it wrote there. */
async function onTerminal(size: string): Promise<string> {
  // A spinner that counts lines for ever hears no other signal.
  const command = `stty ${size}; exec timeout -s KILL 10 "${process.execPath}" --input-type=module -e "$PROGRAM"`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PROGRAM: program, SHELL: '/bin/sh' },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < 100_000) text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return stripVTControlCharacters(text);
}

const canTry = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;
if (!canTry) console.log('skipped: no script(1) of util-linux to make a terminal with');

it.runIf(canTry).each(['cols 0 rows 0', 'cols 80 rows 24', 'cols 1 rows 1'])(
  'is shown, and ends, on a terminal of %s',
  async (size) => {
    const text = await onTerminal(size);
    expect(text).toMatch(/stopped\s*$/);
    expect(text.length).toBeLessThan(10_000);
  },
  30_000,
);
