import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { privileges } from '../../cli/src/providers/postgres/set-up.ts';

const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/kubernetes.md`, 'utf8');

/** One statement a line, each space once. */
function statementsOf(sql: string): readonly string[] {
  return sql
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

describe('docs/kubernetes.md', () => {
  it('grants what the command line grants', () => {
    const block = /<!-- privileges -->\s*```sql\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const own = statementsOf(block.replaceAll('NAME', 'orders'));
    expect(own).toEqual(statementsOf(privileges('orders')));
  });

  it('names folders and files of deploy/ that exist', () => {
    const named = [...page.matchAll(/`((?:base|components|route|canary|migrations|overlays)\/[\w./-]*)`/g)];
    const applied = [...page.matchAll(/apply -k (deploy\/[\w/-]+)/g)];
    expect(named.length).toBeGreaterThan(9);
    for (const [, path] of named) expect(existsSync(`${root}deploy/${path}`), path).toBe(true);
    for (const [, path] of applied) expect(existsSync(`${root}${path}/kustomization.yaml`), path).toBe(true);
  });
});
