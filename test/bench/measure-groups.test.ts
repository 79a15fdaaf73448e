import { describe, expect, it } from 'vitest';
import { openBench } from './bench.ts';
import type { Group } from './groups.ts';
import { exitCodeOf, type Failed, measureGroups } from './measure-groups.ts';
import type { Finished } from './report.ts';
import type { Section, Target } from './section.ts';

const met: Target = { what: 'a ratio', value: 1, atMost: 2 };
const miss: Target = { what: 'a ratio', value: 3, atMost: 2 };

const found = (target: Target): Section => ({ headers: [], rows: [], targets: [target], notes: [], measured: 0 });
const group = (key: string, run: Group['run']): Group => ({ key, title: `group ${key}`, run });
const fails = group('b', async () => {
  throw new Error('npm is not available');
});

/** Measures groups, and returns what happened in which order. */
async function measure(
  groups: readonly Group[],
  { keep = () => undefined, close = () => undefined }: { keep?(group: Finished): void; close?(): void } = {},
) {
  const events: string[] = [];
  const bench = {
    ...openBench({ rounds: 1, shotMs: 1, quick: true }, () => undefined),
    async closeAll() {
      close();
      events.push('closed all');
    },
  };
  const outcome = await measureGroups(groups, bench, {
    async finished(one) {
      keep(one);
      events.push(`kept ${one.key}`);
    },
    failed: ({ key, error }: Failed) => void events.push(`${key}: ${error.what}`),
  });
  return { events, outcome };
}

describe('groups of rows', () => {
  it('are kept as they finish; one that fails loses no other, and none finds what another has opened', async () => {
    const groups = [group('a', async () => found(met)), fails, group('c', async () => found(met))];
    const { events, outcome } = await measure(groups);
    expect(events).toEqual([
      'kept a',
      'closed all',
      'b: could not be measured: npm is not available',
      'closed all',
      'kept c',
      'closed all',
    ]);
    expect(outcome.finished.map(({ key }) => key)).toEqual(['a', 'c']);
    expect(outcome.failed.map(({ key }) => key)).toEqual(['b']);
  });

  it('that cannot be kept are failures, and measured all the same', async () => {
    const { outcome } = await measure([group('a', async () => found(met))], {
      keep() {
        throw new Error('the page has no place for group a');
      },
    });
    expect(outcome).toMatchObject({ finished: [{ key: 'a' }], failed: [{ key: 'a' }] });
  });

  it('end where nothing more could be measured alone, and keep what there is', async () => {
    const { events, outcome } = await measure(
      [group('a', async () => found(met)), group('c', async () => found(met))],
      {
        close() {
          throw new Error('a platform does not end');
        },
      },
    );
    expect(events).toEqual(['kept a', 'a: could not be measured: a platform does not end']);
    expect(outcome.finished.map(({ key }) => key)).toEqual(['a']);
  });
});

describe('the exit code', () => {
  const full = { quick: false };
  const codeOf = async (groups: readonly Group[], options = full) =>
    exitCodeOf((await measure(groups)).outcome, options);
  const missing = group('a', async () => found(miss));

  it('is 0 when all was measured and every target is met', async () => {
    expect(await codeOf([group('a', async () => found(met))])).toBe(0);
  });

  it('is 1 when a target was missed, which short shots cannot do', async () => {
    expect(await codeOf([missing])).toBe(1);
    expect(await codeOf([missing], { quick: true })).toBe(0);
  });

  it('is 3 when something could not be measured, also beside a missed target and with short shots', async () => {
    expect(await codeOf([missing, fails])).toBe(3);
    expect(await codeOf([missing, fails], { quick: true })).toBe(3);
  });
});
