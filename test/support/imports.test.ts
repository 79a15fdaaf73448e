import { describe, expect, it } from 'vitest';
import { circlesOf, circlesOfNeighbours, importsBelow, isProduction } from './imports.ts';

const imports = (...pairs: readonly [string, string][]) => pairs.map(([from, to]) => ({ from, to }));

describe('circles', () => {
  it('are files that import each other, also through others', () => {
    const circle = imports(['a', 'b'], ['b', 'c'], ['c', 'a'], ['c', 'd']);
    expect(circlesOf(circle).map((names) => names.toSorted())).toEqual([['a', 'b', 'c']]);
  });

  it('are not files that are imported twice', () => {
    expect(circlesOf(imports(['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd']))).toEqual([]);
  });

  it('are also folders whose files import each other, though no file does', () => {
    const folders = imports(['x/a.ts', 'y/a.ts'], ['y/b.ts', 'x/b.ts']);
    expect(circlesOf(folders)).toEqual([]);
    expect(circlesOfNeighbours(folders)).toEqual([['x', 'y']]);
  });
});

describe('imports of a folder', () => {
  const found = importsBelow('cli/src');
  const includes = (from: string, to: string) => found.some((one) => one.from === from && one.to === to);

  it.each([
    ['of values', 'cli/src/main.ts', 'cli/src/errors.ts'],
    ['of types', 'cli/src/commands/up/command.ts', 'cli/src/command-context.ts'],
    ['when it is needed', 'cli/src/commands/up/command.ts', 'cli/src/commands/up/run-up.ts'],
  ])('are found: %s', (_, from, to) => {
    expect(includes(from, to)).toBe(true);
  });

  it('count as production only where they ship', () => {
    expect(['a.ts', 'a.test.ts', 'testing/a.ts', 'x/testing.ts'].map((file) => isProduction(`cli/${file}`))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
