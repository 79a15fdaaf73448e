import { flagNames } from '@shop/kit/flag-names.ts';
import { CliError } from '../../errors.ts';
import { suggestName } from '../../shared/suggest-name.ts';

export function unknownFlag(name: string): CliError {
  return new CliError({
    code: 'unknown_flag',
    what: `there is no flag "${name}"${didYouMean(name)}`,
    why: `the flags are ${flagNames.join(', ')}`,
    next: 'see "shopctl flags ls"',
  });
}

export function didYouMean(name: string): string {
  const suggestion = suggestName(name, flagNames);
  return suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
}
