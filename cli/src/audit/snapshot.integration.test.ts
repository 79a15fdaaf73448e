// That no connection is asked while it is at work is checked by test/support/fail-on-warnings.ts.
import { expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import type { RowSource } from './rows.ts';
import { openGroups, openSnapshot } from './snapshot.ts';

/** More rows than two batches have. */
const ROWS = 8_500;
const source = (name: string): RowSource<number> => ({
  database: 'shipping',
  name,
  select: () => `SELECT lpad(n::text, 6, '0'), n FROM generate_series(1, ${ROWS}) AS n`,
  parse: (row) => Number(row[1]),
});

it('tables of one database are read concurrently, each in its order and to its end, on one connection', {
  timeout: START_TIMEOUT_MS,
}, async () => {
  const { ownerUrl } = await createDatabase('shipping');
  await using snapshot = await openSnapshot(ownerUrl);
  const readers = await Promise.all(['a', 'b', 'c'].map((name) => openGroups(snapshot, source(name), {})));
  const seen = [0, 0, 0];
  for (;;) {
    const ids = await Promise.all(readers.map((reader) => reader.next()));
    if (ids.includes(undefined)) break;
    for (const [index, reader] of readers.entries()) seen[index] = (await reader.take(String(ids[index])))[0] ?? 0;
  }
  expect(seen).toEqual([ROWS, ROWS, ROWS]);
});
