import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { cloneRoot } from '../platform/project.ts';
import { contractForRoot, contractNames, countsOf, expectedTree, loadContract, parseContract } from './contract.ts';
import { contractTable } from './contract-table.ts';

describe('trace contracts', () => {
  it('want 31 spans of a confirmed order in six services, 16 of them SQL over five databases', async () => {
    const counts = countsOf(expectedTree(await loadContract('confirmed', cloneRoot())));
    expect(counts).toEqual({
      spans: 31,
      fewestSpans: 31,
      sql: 16,
      services: ['catalog', 'gateway', 'orders', 'payments', 'shipping', 'stock'],
      databases: ['catalog', 'orders', 'payments', 'shipping', 'stock'],
    });
  });

  it('want three spans of a replayed order, and none of SQL', async () => {
    const counts = countsOf(expectedTree(await loadContract('replayed', cloneRoot())));
    expect(counts).toMatchObject({ spans: 3, sql: 0, services: ['gateway', 'orders'] });
  });

  it('differ in the root alone where a client uses version 2 of the API', async () => {
    const contract = await loadContract('confirmed', cloneRoot());
    const second = expectedTree(contractForRoot(contract, 'POST /api/v2/orders/{**rest}'));
    expect(second).toEqual({ ...expectedTree(contract), name: 'POST /api/v2/orders/{**rest}' });
    expect(contractForRoot(contract, 'POST /somewhere')).toBe(contract);
  });

  it.each(contractNames)('are what the documentation shows: %s', async (name) => {
    const contract = await loadContract(name, cloneRoot());
    const page = await readFile(join(cloneRoot(), 'docs', 'traces.md'), 'utf8');
    expect(unaligned(page)).toContain(unaligned(contractTable(contract)));
  });
});

/** Markdown without the spaces and dashes that align a table's columns. */
function unaligned(markdown: string): string {
  return markdown.replaceAll(/ *\| */g, '|').replaceAll(/-{3,}/g, '---');
}

describe('parseContract', () => {
  const root = { service: 'gateway', name: 'POST', kind: 'server' };

  it.each([
    ['is not JSON', '{'],
    ['has an unknown kind', JSON.stringify({ name: 'x', title: 'x', root: { ...root, kind: 'serverr' } })],
    ['has an unknown key', JSON.stringify({ name: 'x', title: 'x', root: { ...root, nmae: 'x' } })],
    [
      'has an unknown key below',
      JSON.stringify({ name: 'x', title: 'x', root: { ...root, children: [{ ...root, x: 1 }] } }),
    ],
    ['repeats by an unknown parameter', JSON.stringify({ name: 'x', title: 'x', root: { ...root, repeat: 'n' } })],
  ])('refuses a file that %s, with exit code 2', (_, text) => {
    const attempt = () => parseContract(text, 'x.json');
    expect(attempt).toThrow(CliError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'invalid_contract' }));
  });

  it('refuses a parameter that the contract does not have', async () => {
    const contract = await loadContract('confirmed', cloneRoot());
    expect(() => expectedTree(contract, { products: 2 })).toThrow('no parameter "products"');
  });
});
