import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { durations } from '../../kit/src/spans/durations.ts';

const root = new URL('../../', import.meta.url).pathname;

it('docs/metrics.md names every instrument that the sources create, and no other', () => {
  const page = readFileSync(`${root}docs/metrics.md`, 'utf8');
  const documented = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`([\w.]+)`/g)].map(([, name]) => name));
  const sources = globSync('{kit,services/*}/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const created = sources.flatMap((path) =>
    [
      ...readFileSync(`${root}${path}`, 'utf8').matchAll(
        /create(?:Counter|Histogram|Gauge|UpDownCounter|Observable\w+)\(\s*'([a-z]+\.[\w.]+)'/g,
      ),
    ].map(([, name]) => name),
  );
  created.push(...Object.keys(durations), ...madeBySupervisor());
  expect([...new Set(documented)].toSorted()).toEqual([...new Set(created)].toSorted());
});

function madeBySupervisor(): string[] {
  const sources = globSync('cli/src/monitoring/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const texts = sources.map((path) => readFileSync(`${root}${path}`, 'utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/(?:gauge|histogram)Of\(\s*'([\w.]+)'/g)].map(([, name = '']) => name),
  );
}
