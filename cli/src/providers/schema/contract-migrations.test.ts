import { describe, expect, it } from 'vitest';
import {
  migrationsAgainst,
  parseRequirement,
  type ReleaseInUse,
  refusedMigrations,
  releasesGivenUp,
} from './contract-migrations.ts';

describe('the requirement of a migration', () => {
  it.each([
    ['-- requires: orders >= 0.4.0\nALTER TABLE orders DROP COLUMN note;', '0.4.0'],
    ['-- Reason first.\n--requires:orders >= 1.0.0-rc.1\r\nDROP TABLE x;', '1.0.0-rc.1'],
  ])('is read from its line: %j', (text, atLeast) => {
    expect(parseRequirement(text, 'orders')).toEqual({ service: 'orders', atLeast });
  });

  it('is none where no line says so', () => {
    expect(parseRequirement('-- It requires nothing.\nSELECT 1;', 'orders')).toBeUndefined();
  });

  it.each([
    ['-- requires: orders 0.4.0', 'must be "-- requires: orders >= VERSION"'],
    ['-- requires: orders > 0.4.0', 'must be "-- requires: orders >= VERSION"'],
    ['-- requires: orders >= 0.4', 'must be "-- requires: orders >= VERSION"'],
    ['-- requires: orders >= 0.4.0, stock >= 0.1.0', 'must be "-- requires: orders >= VERSION"'],
    ['-- Requires:', 'must be "-- requires: orders >= VERSION"'],
    ['-- requires: stock >= 0.4.0', 'names stock, but only orders uses this database'],
    ['-- requires: orders >= 0.4.0\n-- requires: orders >= 0.5.0', 'more than one "-- requires:" line'],
  ])('that cannot be read is an error: %j', (text, message) => {
    expect(() => parseRequirement(text, 'orders')).toThrow(message);
  });
});

const migration = { name: '0007_note_removed', requires: { service: 'orders', atLeast: '0.4.0' } };
const release = (version: string | undefined, use: ReleaseInUse['use'] = 'running'): ReleaseInUse => ({
  service: 'orders',
  use,
  where: 'here',
  ...(version !== undefined && { version }),
});
const refused = (releases: readonly ReleaseInUse[], pointOfNoReturn = false) =>
  refusedMigrations({ pending: [migration], releases, pointOfNoReturn }).flatMap((one) => one.releases);

describe('a contract migration', () => {
  it('passes where all releases do without what it removes', () => {
    expect(refused([release('0.4.0'), release('0.5.0', 'kept'), release('0.10.0', 'built')])).toEqual([]);
  });

  it.each<ReleaseInUse['use']>(['running', 'built', 'kept'])('is refused beside an older release that is %s', (use) => {
    expect(refused([release('0.4.0'), release('0.3.9', use)])).toEqual([release('0.3.9', use)]);
  });

  it('is refused beside a release that does not report its version', () => {
    expect(refused([release(undefined)])).toEqual([release(undefined)]);
    expect(refused([release('latest', 'kept')])).toEqual([release('latest', 'kept')]);
  });

  it('compares what a deploy has built by its version, and not as a pre-release', () => {
    const built = ['0.4.0-g2a3047fe', '0.4.0-d86d15007+bug.no-inbox', '0.4.0-b00000000'];
    expect(refused(built.map((version) => release(version, 'kept')))).toEqual([]);
    expect(refused([release('0.3.9-g2a3047fe'), release('0.4.0-rc.1')])).toHaveLength(2);
  });

  it('does not concern releases of other services', () => {
    expect(refused([{ ...release('0.1.0'), service: 'stock' }])).toEqual([]);
  });

  it('gives up, at a point of no return, what is kept and nothing else', () => {
    const releases = [release('0.3.0'), release('0.2.0', 'built'), release('0.1.0', 'kept'), release('0.4.0', 'kept')];
    expect(refused(releases, true)).toEqual([release('0.3.0'), release('0.2.0', 'built')]);
    expect(releasesGivenUp([migration], releases)).toEqual([release('0.1.0', 'kept')]);
  });
});

it('a release cannot run on a schema that requires a newer one', () => {
  expect(migrationsAgainst({ service: 'orders', version: '0.3.0' }, [migration])).toEqual([migration]);
  expect(migrationsAgainst({ service: 'orders', version: '0.4.0' }, [migration])).toEqual([]);
  expect(migrationsAgainst({ service: 'stock', version: '0.3.0' }, [migration])).toEqual([]);
});
