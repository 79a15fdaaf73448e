import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { suggestName } from '../shared/suggest-name.ts';

/** The error (exit code 2) for a name that is none, with the nearest one that is. */
export function unknownService(name: string, known: readonly string[]): CliError {
  const suggestion = suggestName(name, known);
  return new CliError({
    what: `there is no service "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `known here: ${known.join(', ')}`,
    exitCode: exitCodes.usage,
  });
}
