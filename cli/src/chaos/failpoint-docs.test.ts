import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededBugs } from '@shop/kit/seeded-bugs.ts';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import { type FailpointPlace, failpointPlaces } from './failpoint-names.ts';

/** Cells of the page's table rows. */
const rows = readFileSync(join(cloneRoot(), 'docs/chaos.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/chaos.md', () => {
  it('has every failpoint as the table in the sources has it, and no other', () => {
    const documented = rows.filter(([, name]) => /^`[a-z]+ [A-Z]\d+`$/.test(name ?? '')).map((row) => row.slice(1, 4));
    const places = serviceNames.flatMap((service) =>
      failpointPlaces[service].map((place: FailpointPlace) => [
        `\`${service} ${place.at}\``,
        place.stands,
        [place.reply, place.isDoor ? 'door' : undefined].filter((part) => part !== undefined).join(', '),
      ]),
    );
    expect(documented).toEqual(places);
  });

  it('has every seeded bug', () => {
    const names = rows.map(([, name]) => name?.replaceAll('`', ''));
    for (const name of Object.keys(seededBugs)) expect(names).toContain(name);
  });
});
