import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, messageOf } from '../../errors.ts';

/** Shorter ones are tried out within hours. */
const SHORTEST = 8;

/** The first line of a file, or what a person types without an echo. Throws CliError (2). */
export async function readPassphrase(file: string | undefined, signal: AbortSignal): Promise<string> {
  const passphrase = file === undefined ? await ask(signal) : await firstLineOf(file);
  if (passphrase.length >= SHORTEST) return passphrase;
  throw refusal(`it has ${passphrase.length} characters, and needs ${SHORTEST}`);
}

async function firstLineOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).split(/\r?\n/)[0] ?? '';
  } catch (error) {
    throw refusal(messageOf(error));
  }
}

async function ask(signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) throw refusal('there is no terminal to ask on');
  // readline echoes through its output, so that has to be closed while a person types.
  let isMuted = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isMuted) process.stderr.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  try {
    const response = terminal.question('Passphrase: ', { signal });
    isMuted = true;
    return await response;
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

function refusal(why: string): CliError {
  return new CliError({
    code: 'no_passphrase',
    what: 'a sealed round needs its passphrase',
    why,
    next: 'type it on a terminal, or name a file with --passphrase-file',
  });
}
