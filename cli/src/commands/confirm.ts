import { createInterface } from 'node:readline/promises';
import { CliError } from '../errors.ts';

/** Asks on a terminal. Throws CliError (2) when there is no terminal, or the reply is not yes. */
export async function confirm(
  question: string,
  { what, next, signal }: { what: string; next: string; signal: AbortSignal },
): Promise<void> {
  const refusal = (why: string) => new CliError({ code: 'not_confirmed', what, why, next });
  if (!process.stdin.isTTY) throw refusal('it has to be confirmed, and there is no terminal to ask on');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const response = await terminal.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(response.trim())) throw refusal('it was not confirmed');
  } finally {
    terminal.close();
  }
}
