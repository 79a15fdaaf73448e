import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { quotedMessagesOf, sourcesOf, unknownPartsOf } from './quoted-messages.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
const sources = sourcesOf(root, 'cli/src/**/*.ts');

it.each(quotedMessagesOf(page))('docs/troubleshooting.md quotes a message that exists: %s', (message) => {
  expect(unknownPartsOf(message, sources)).toEqual([]);
});
