import { appendFile, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { evaluate } from './analysis/evaluate.ts';
import { theDefaultPlan } from './analysis/testing/plan.ts';
import { type JournalRecord, runsIn } from './run.ts';
import { createSampleFiles, rolloutAt, type Sample, samplesFolder } from './samples.ts';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

const BEGAN = Date.parse('2026-11-24T09:00:00.000Z');

const sample = (second: number, changes: Partial<Sample> = {}): Sample => ({
  at: BEGAN + second * 1_000,
  share: 0.01,
  evidence: [],
  guards: [],
  missing: [],
  tests: { errors: 0, slow: 0, promotion: 0 },
  ...changes,
});

describe('samples', () => {
  it('are kept by run, for their user only', async () => {
    const files = createSampleFiles({ stateDir }, () => undefined);
    expect(await files.read('a')).toEqual([]);
    await files.append('a', sample(1));
    await files.append('a', sample(2));
    await files.append('b', sample(3));
    expect(await files.read('a')).toEqual([sample(1), sample(2)]);
    expect((await stat(join(samplesFolder({ stateDir }), 'a.jsonl'))).mode & 0o777).toBe(0o600);
  });

  it('that a kill has cut off are reported, and left out', async () => {
    const problems: string[] = [];
    const files = createSampleFiles({ stateDir }, (problem) => problems.push(problem));
    await files.append('a', sample(1));
    await appendFile(join(samplesFolder({ stateDir }), 'a.jsonl'), '{"at":17');
    expect(await files.read('a')).toEqual([sample(1)]);
    expect(problems).toEqual([expect.stringContaining('a.jsonl:2 ')]);
  });

  it('of the oldest runs make room', async () => {
    for (const [index, run] of ['a', 'b', 'c'].entries()) {
      await createSampleFiles({ stateDir }, () => undefined, { keptFiles: 2 }).append(run, sample(1));
      await utimes(join(samplesFolder({ stateDir }), `${run}.jsonl`), index, index);
    }
    expect((await readdir(samplesFolder({ stateDir }))).toSorted()).toEqual(['b.jsonl', 'c.jsonl']);
  });
});

describe('a rollout of a journal', () => {
  const records = [
    {
      kind: 'planned',
      strategy: 'canary',
      canary: { plan: theDefaultPlan, onInconclusive: 'rollback', onFailure: 'rollback' },
    },
    { kind: 'weights', reason: 'step', step: 1, share: 0.01, weights: { 'orders-1': 99, 'orders-2': 1 } },
  ].map((one) => ({ time: '2026-11-24T09:00:00.000Z', run: 'a', ...one }) as JournalRecord);
  const [run] = runsIn(records);

  it('has what was known at a time, and no more', () => {
    if (run === undefined) throw new Error('no run');
    const evidence = [{ at: BEGAN + 1_000, arm: 'canary' as const, share: 0.01, requests: 3, bad: 0, slow: null }];
    const samples = [sample(1, { evidence }), sample(2, { missing: ['gateway-1 reports nothing'] }), sample(3)];
    expect(rolloutAt(run, samples, BEGAN + 2_000)).toMatchObject({
      stepsBegan: [BEGAN],
      evidence,
      readAt: BEGAN + 1_000,
    });
    expect(evaluate(rolloutAt(run, samples, BEGAN + 3_000), BEGAN + 3_000).canary.requests).toBe(3);
  });

  it('needs a canary', () => {
    const [rolling] = runsIn(records.map((one) => ({ ...one, canary: undefined }) as unknown as JournalRecord));
    expect(() => rolloutAt(rolling ?? (run as never), [], 0)).toThrow(RangeError);
  });
});
