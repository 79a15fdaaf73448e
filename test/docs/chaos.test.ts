import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faults } from '../../cli/src/chaos/catalog.ts';
import { flagOf } from '../../cli/src/commands/chaos/fault-options.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/chaos.md'), 'utf8');

/** Rows of the tables of faults: first cell the name, second the options. */
const rows = new Map(
  [
    ...text
      .slice(text.indexOf('\n## Faults'), text.indexOf('\n## Failpoints'))
      .matchAll(/^\| `([a-z_-]+)` *\|([^|]*)\|/gm),
  ].map(([, name, options = '']) => [name, [...options.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)]),
);

/** Stated once for all toxics. */
const OF_ALL_TOXICS = ['--stream', '--toxicity'];

describe('docs/chaos.md', () => {
  it.each(faults.map((fault) => [fault.name, fault] as const))(
    'lists %s with its own options',
    (name, { parameters }) => {
      const own = Object.keys(parameters.properties).map(flagOf);
      expect(rows.get(name)).toEqual(own.filter((flag) => !OF_ALL_TOXICS.includes(flag)));
    },
  );

  it.each(OF_ALL_TOXICS)('says that toxics take %s', (flag) => {
    expect(text).toContain(`\`${flag}`);
  });
});
