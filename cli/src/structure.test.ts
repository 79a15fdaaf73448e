import { describe, expect, it } from 'vitest';
import {
  circlesOf,
  circlesOfNeighbours,
  importsBelow,
  isProduction,
  sourcesBelow,
} from '../../test/support/imports.ts';

/** From the top down: a file may import its own folder, and what stands on a lower floor. */
const floors: readonly (readonly string[])[] = [
  // Entries: where processes begin.
  ['shopctl.ts', 'supervisor.ts'],
  ['main.ts'],
  ['commands'],
  // What checks the alerts.
  ['alert-matrix'],
  // What checks the shop.
  ['load', 'monitoring', 'verify', 'watch'],
  ['drills'],
  ['experiments'],
  ['deploy'],
  ['report', 'slo'],
  ['audit'],
  // What acts on it, and what reads it.
  ['chaos'],
  ['operations'],
  ['shop', 'pager'],
  ['command-context.ts'],
  // What runs it.
  ['compose', 'counters', 'develop', 'doctor'],
  ['platform'],
  ['trace', 'images', 'migrate'],
  ['otlp', 'providers'],
  // The ground.
  ['output', 'process', 'yaml'],
  ['shared', 'topology', 'interruption.ts'],
  ['errors.ts'],
  ['error-codes.ts'],
  ['exit-codes.ts', 'version.ts'],
];

const own = 'cli/src/';
const all = importsBelow('cli/src').filter(({ to }) => to.startsWith(own));
const production = all.filter(({ from }) => isProduction(from));

/** The file or folder directly below cli/src that a path is in. */
const roomOf = (path: string) => path.slice(own.length).split('/')[0] ?? '';
/** 0 is the top. */
const floorOf = (path: string) => floors.findIndex((rooms) => rooms.includes(roomOf(path)));
const written = ({ from, to }: { from: string; to: string }) => `${from} -> ${to}`;

describe('the command line', () => {
  it('has a floor for each of its files and folders, and no floor for what is not there', () => {
    const rooms = new Set(sourcesBelow('cli/src').filter(isProduction).map(roomOf));
    expect([...rooms].toSorted()).toEqual(floors.flat().toSorted());
  });

  it('imports downwards only', () => {
    const upwards = production.filter(({ from, to }) => roomOf(from) !== roomOf(to) && floorOf(from) >= floorOf(to));
    expect(upwards.map(written)).toEqual([]);
  });

  it('has no files and no folders that import each other', () => {
    expect(circlesOf(production)).toEqual([]);
    expect(circlesOfNeighbours(production)).toEqual([]);
  });

  it('imports commands in main.ts only, also in tests', () => {
    const others = all.filter(({ from, to }) => roomOf(to) === 'commands' && roomOf(from) !== 'commands');
    expect(others.filter(({ from }) => !/^cli\/src\/main(\.test)?\.ts$/.test(from)).map(written)).toEqual([]);
  });

  it('has commands that do not import each other, also in tests', () => {
    const commandOf = (path: string) => /^cli\/src\/commands\/([^/]+)\//.exec(path)?.[1];
    const between = all.filter(({ from, to }) => {
      const [importer, imported] = [commandOf(from), commandOf(to)];
      return importer !== undefined && imported !== undefined && importer !== imported;
    });
    expect(between.map(written)).toEqual([]);
  });

  it('has nothing in commands/ that imports a command, but tests', () => {
    const shared = production.filter(({ from, to }) => {
      return /^cli\/src\/commands\/[^/]+$/.test(from) && /^cli\/src\/commands\/[^/]+\//.test(to);
    });
    expect(shared.map(written)).toEqual([]);
  });
});
