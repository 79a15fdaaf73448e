import { CliError } from '../errors.ts';
import { suggestName } from '../shared/suggest-name.ts';

/** The error (exit code 2) for a name that is none, with the nearest one that is. */
export function unknownService(name: string, known: readonly string[]): CliError {
  const suggestion = suggestName(name, known);
  return new CliError({
    code: 'unknown_service',
    what: `there is no service "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `known here: ${known.join(', ')}`,
  });
}
