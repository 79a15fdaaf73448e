import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sagaStates } from '../../cli/src/shop/orders-table.ts';
import { edges, serviceNames } from '../../cli/src/topology/services.ts';

/** The Mermaid diagram of a page. */
function diagramOf(page: string): string {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  return /```mermaid\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
}

describe('a diagram', () => {
  it('of the topology names each edge, and no other', () => {
    const drawn = [...diagramOf('docs/architecture.md').matchAll(/ -- "?([a-z]+-[a-z]+)/g)].map(([, name]) => name);
    expect(drawn.toSorted()).toEqual(edges.map(({ name }) => name).toSorted());
  });

  it.each(['docs/architecture.md', 'README.md'])('in %s names each service', (page) => {
    for (const name of serviceNames) expect(diagramOf(page)).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('of the saga names each state, and no other', () => {
    const drawn = [...diagramOf('docs/saga.md').matchAll(/(\w+) --> (\w+)/g)].flatMap(([, from, to]) => [from, to]);
    expect([...new Set(drawn)].toSorted()).toEqual([...sagaStates].toSorted());
  });
});
