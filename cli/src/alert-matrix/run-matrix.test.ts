import { describe, expect, it } from 'vitest';
import type { PairRecord } from './journal.ts';
import type { Pair } from './pair.ts';
import { mayGoOn, runMatrix } from './run-matrix.ts';
import { aFiring, aPair, aRecord } from './testing/records.ts';

const pairs = ['a', 'b', 'c', 'd', 'e'].map((fault) => aPair(fault));

/** A run whose platforms are values; `measure` and `open` may be replaced. */
async function run({
  platforms = 2,
  measure = async (pair: Pair) => aRecord(pair),
  open = (_: number) => undefined as undefined | Error,
  signal = new AbortController().signal,
} = {}) {
  const seen = {
    measured: [] as string[],
    opened: 0,
    closed: 0,
    records: [] as PairRecord[],
    troubles: [] as string[],
  };
  const ended = runMatrix(pairs, {
    platforms,
    signal,
    async open(number) {
      const problem = open(number);
      if (problem !== undefined) throw problem;
      seen.opened++;
      return {
        async measure(pair) {
          seen.measured.push(pair.fault);
          return measure(pair);
        },
        close: async () => void seen.closed++,
      };
    },
    onRecord: async (record) => void seen.records.push(record),
    onTrouble: (number, problem) => seen.troubles.push(`${number}: ${problem}`),
  });
  return {
    seen,
    error: await ended.then(
      () => undefined,
      (error: unknown) => error as Error,
    ),
  };
}

it('measures each pair once, on as many platforms as it may, and closes them', async () => {
  const { seen, error } = await run();
  expect(error).toBeUndefined();
  expect(seen.measured.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(seen).toMatchObject({ opened: 2, closed: 2, records: { length: 5 } });
});

it('opens no more platforms than there are pairs', async () => {
  expect((await run({ platforms: 9 })).seen).toMatchObject({ opened: 5, closed: 5 });
});

it('replaces a platform that a pair has left changed', async () => {
  const measure = async (pair: Pair) => aRecord({ ...pair, lastsLonger: pair.fault === 'b' });
  expect((await run({ platforms: 1, measure })).seen).toMatchObject({ opened: 2, closed: 2, records: { length: 5 } });
});

it('goes on without a pair that could not be measured, on another platform', async () => {
  const measure = async (pair: Pair) => {
    if (pair.fault === 'b') throw new Error('the supervisor is gone');
    return aRecord(pair);
  };
  const { seen, error } = await run({ platforms: 1, measure });
  expect(error).toBeUndefined();
  expect(seen).toMatchObject({ opened: 2, closed: 2, records: { length: 4 } });
  expect(seen.troubles).toEqual(['1: b orders was not measured: the supervisor is gone']);
});

it('gives a pair whose platform did not start to another one', async () => {
  let starts = 0;
  const { seen, error } = await run({
    platforms: 1,
    open: () => (++starts === 1 ? new Error('no memory') : undefined),
  });
  expect(error).toBeUndefined();
  expect(seen).toMatchObject({ opened: 1, closed: 1, records: { length: 5 }, troubles: { length: 1 } });
  expect(seen.measured).toEqual(['b', 'c', 'd', 'e', 'a']);
});

it('ends after three failures in a row, and closes what it opened', async () => {
  const { seen, error } = await run({ platforms: 1, open: () => new Error('no memory') });
  expect(error?.message).toBe('no memory');
  expect(seen).toMatchObject({ opened: 0, measured: [], troubles: { length: 2 } });
});

it('ends with an interruption, and closes what it opened', async () => {
  const interruption = new AbortController();
  const measure = async () => {
    interruption.abort();
    throw new Error('interrupted');
  };
  const { seen, error } = await run({ measure, signal: interruption.signal });
  expect(error?.message).toBe('interrupted');
  expect(seen.opened).toBe(seen.closed);
  expect(seen.records).toEqual([]);
});

describe('a platform goes on with the next pair', () => {
  it.each([
    ['after one without traces', {}, true],
    [
      'while a slow burn rate still fires: its samples are removed',
      { firings: [aFiring('Failing', 7, null, 'slow')] },
      true,
    ],
    ['while a cause still fires', { firings: [aFiring('Explains', 7, null)] }, true],
    ['not while another page still fires', { firings: [aFiring('Stalled', 7, null)] }, false],
    ['not after a problem', { problems: ['busy'] }, false],
    ['not with a fault that is left', { notReverted: ['down on orders'] }, false],
    ['not without a shipment', { shipments: { confirmed: 9, late: 0, missing: 1 } }, false],
    ['not after one whose effects last', { pair: { ...aPair('unbind'), lastsLonger: true } }, false],
  ])('%s', (_, record, goesOn) => {
    expect(mayGoOn(aRecord(aPair('down'), record))).toBe(goesOn);
  });
});
