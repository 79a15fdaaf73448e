import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../cli/src/error-codes.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync(['cli/src/**/*.ts', 'test/bench/*.ts'], { cwd: root }).filter(
  (file) => !file.endsWith('.test.ts') && !file.endsWith('error-codes.ts'),
);
const sources = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');

describe('codes of errors of the command line', () => {
  // The type of CliError makes the other direction: the sources can use no code that is not in the table.
  it.each(Object.keys(errorCodes))('%s is used', (code) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(sources).toContain(`'${code}'`);
  });
});
