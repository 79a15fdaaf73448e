import { describe, expect, it } from 'vitest';
import { circlesOf, circlesOfNeighbours, type Import, importsBelow, isProduction } from './support/imports.ts';

const written = ({ from, to }: Import) => `${from} -> ${to}`;
const services = importsBelow('services');
const kit = importsBelow('kit/src');
const serviceOf = (path: string) => /^services\/([^/]+)\//.exec(path)?.[1];

describe('services', () => {
  it('import nothing of each other, and nothing of the command line, also in tests', () => {
    const others = services.filter(({ from, to }) => {
      return serviceOf(from) !== serviceOf(to) && !/^(test\/support|contracts)\//.test(to);
    });
    expect(others.map(written)).toEqual([]);
  });

  it('have no files and no folders that import each other', () => {
    expect(circlesOf(services)).toEqual([]);
    expect(circlesOfNeighbours(services.filter(({ from }) => isProduction(from)))).toEqual([]);
  });
});

describe('the dashboards', () => {
  it('have no files that import each other', () => {
    expect(circlesOf(importsBelow('dashboards'))).toEqual([]);
  });
});

describe('the kit', () => {
  it('imports nothing outside itself', () => {
    const outside = kit.filter(({ from, to }) => isProduction(from) && !to.startsWith('kit/'));
    expect(outside.map(written)).toEqual([]);
  });

  it('has no files and no folders that import each other', () => {
    expect(circlesOf(kit)).toEqual([]);
    expect(circlesOfNeighbours(kit.filter(({ from }) => isProduction(from)))).toEqual([]);
  });
});
