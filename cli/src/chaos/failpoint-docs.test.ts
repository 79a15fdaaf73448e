import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededBugs } from '@shop/kit/seeded-bug-names.ts';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';

/** Cells of the page's table rows. */
const rows = readFileSync(join(cloneRoot(), 'docs/chaos.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/chaos.md', () => {
  it('has every seeded bug', () => {
    const names = rows.map(([, name]) => name?.replaceAll('`', ''));
    for (const name of Object.keys(seededBugs)) expect(names).toContain(name);
  });
});
