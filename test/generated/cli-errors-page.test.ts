import { it } from 'vitest';
import { errorCodes } from '../../cli/src/error-codes.ts';
import { expectGeneratedBlocks } from './expect-generated.ts';

it('docs/cli-errors.md has every code of the command line, and no other', () =>
  expectGeneratedBlocks('docs/cli-errors.md', {
    codes: [
      '| code | exit code | when | what to do |',
      '| --- | --- | --- | --- |',
      ...Object.entries(errorCodes).map(
        ([code, { exitCode, meaning, action }]) => `| \`${code}\` | ${exitCode} | ${meaning} | ${action} |`,
      ),
    ].join('\n'),
  }));
