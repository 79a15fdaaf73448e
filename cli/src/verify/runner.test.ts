import { describe, expect, it } from 'vitest';
import type { Check } from './check.ts';
import { CheckFailed, EvidenceMissing } from './check-errors.ts';
import type { VerifyContext } from './context.ts';
import { runChecks, stages } from './runner.ts';

const check = (id: string, run: Check['run']): Check => ({ id, name: `${id} holds`, run });
const contextOf = (signal = new AbortController().signal) => ({ signal }) as VerifyContext;
const run = (checks: readonly (readonly Check[])[], context = contextOf()) =>
  runChecks(context, () => undefined, checks);

describe('running checks', () => {
  it('a check that resolves passes with its evidence and its time', async () => {
    const [result] = await run([[check('a', async () => '3 rows')]]);
    expect(result).toMatchObject({ id: 'a', name: 'a holds', verdict: 'pass', evidence: '3 rows' });
    expect(result?.tookMs).toBeGreaterThanOrEqual(0);
  });

  it('a failure says what was expected, what came, and its details', async () => {
    const failing = check('a', () =>
      Promise.reject(new CheckFailed({ expected: '1 row', observed: '2', details: 'diff' })),
    );
    expect(await run([[failing]])).toMatchObject([
      { verdict: 'fail', expected: '1 row', observed: '2', details: 'diff' },
    ]);
  });

  it.each([
    ['evidence that is missing', new EvidenceMissing('no report'), 'no report'],
    ['a dependency that does not respond', new Error('the database is unavailable'), 'the database is unavailable'],
  ])('%s is unknown, never a pass', async (_title, error, evidence) => {
    expect(await run([[check('a', () => Promise.reject(error))]])).toMatchObject([{ verdict: 'unknown', evidence }]);
  });

  it('a check without an end is unknown when the time is over, and holds up no other', async () => {
    const limit = new AbortController();
    const endless = check('endless', () => new Promise(() => undefined));
    const quick = check('quick', async () => {
      limit.abort();
      return 'done';
    });
    const results = await run([[endless, quick]], contextOf(limit.signal));
    expect(results[0]).toMatchObject({
      id: 'endless',
      verdict: 'unknown',
      evidence: expect.stringContaining('--timeout'),
    });
    expect(results).toHaveLength(2);
  });

  it('checks of one stage run concurrently, the next stage after them, results in order', async () => {
    const log: string[] = [];
    let release = () => undefined as unknown;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = check('first', async () => {
      await gate;
      log.push('first');
      return '';
    });
    const second = check('second', async () => {
      log.push('second');
      release();
      return '';
    });
    const last = check('last', async () => {
      log.push('last');
      return '';
    });
    const results = await run([[first, second], [last]]);
    expect(log).toEqual(['second', 'first', 'last']);
    expect(results.map(({ id }) => id)).toEqual(['first', 'second', 'last']);
  });

  it('every check has a unique id', () => {
    const ids = stages.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
