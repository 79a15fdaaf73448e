import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../cli/src/deploy/analysis/read-plan.ts';
import type { DeployRun, JournalRecord } from '../../../cli/src/deploy/run.ts';
import { cloneRoot } from '../../../cli/src/platform/project.ts';
import { applyEdit } from './edited-sources.ts';
import { JOURNAL_VERSION, parseReleases, type RowRecord, waitingIn } from './journal.ts';
import { hitBy, missesOf, outcomeOf } from './outcome.ts';
import { renderReleases, reportOf } from './render.ts';
import { identical, planOf, trialOf, trials } from './trials.ts';

const machine = { cpus: '2 x a processor', memoryGb: 8, system: 'linux', node: 'v24', load1: 0 };
const start = { type: 'releases', version: JOURNAL_VERSION, runId: 'r', startedAt: '', machine, rate: 30 } as const;
const row: RowRecord = {
  type: 'row',
  id: 'errors-20',
  startedAt: '2026-11-24T10:00:00.000Z',
  end: 'rolled-back',
  by: 'test E',
  why: 'failed requests',
  seconds: 8,
  failed: 2,
  served: 40,
  sent: 400,
  late: 0,
};
const lines = (...rows: readonly object[]) => [start, ...rows].map((line) => JSON.stringify(line)).join('\n');
const trial = trialOf('errors-20');

describe('a bad release', () => {
  it.each(trials.flatMap(({ id, edits }) => edits.map((edit) => [id, edit] as const)))(
    '%s can be made of the present sources',
    (_id, edit) => {
      const text = readFileSync(join(cloneRoot(), edit.file), 'utf8');
      expect(applyEdit(text, edit)).toContain(edit.replace);
    },
  );

  it('is refused where its edit finds nothing, or two places', () => {
    const edit = { file: 'a.ts', find: 'x', replace: 'y' };
    expect(() => applyEdit('none', edit)).toThrow('a.ts has "x" 0 times, not once');
    expect(() => applyEdit('x x', edit)).toThrow('a.ts has "x" 2 times, not once');
  });

  it.each([...trials, identical].map((one) => [one.id, one] as const))('%s has a plan that can be read', (_id, one) => {
    const { plan, problems } = readPlan(planOf(one));
    expect(problems).toEqual([]);
    expect(plan?.steps).toHaveLength(2);
  });

  it('has a name of its row, and unknown ones are refused', () => {
    expect(trialOf('aa#17')).toBe(identical);
    expect(() => trialOf('errors')).toThrow('there is no row "errors"');
  });
});

describe('a row', () => {
  it('is as it has to be when it was found by what was named, in time, with few customers hit', () => {
    expect(missesOf(trial, row)).toEqual([]);
  });

  it.each([
    ['another finder', { by: 'total-errors' }, 'found by total-errors, not test E'],
    ['too late', { seconds: 100 }, 'after 100.0 s, not 45 s'],
    ['too many', { failed: 99 }, '99 customers hit, not 10'],
    ['promoted', { end: 'promoted', why: 'promoted' }, 'promoted: promoted'],
  ] as const)('is a miss by %s', (_title, other, miss) => {
    expect(missesOf(trial, { ...row, ...other })).toEqual([miss]);
  });

  it('of the same sources is a miss unless it was promoted', () => {
    expect(missesOf(identical, { ...row, end: 'promoted' })).toEqual([]);
    expect(missesOf(identical, row)).toEqual(['rolled-back by test E: failed requests']);
  });

  it('counts all orders that were served where customers see nothing of the harm', () => {
    expect(hitBy({ ...trial, isSilent: true }, row)).toBe(40);
    expect(hitBy(trial, row)).toBe(2);
  });

  it('is taken from the deploy and the orders of customers', () => {
    const at = (second: number) => `2026-11-24T10:00:${String(second).padStart(2, '0')}.000Z`;
    const records = [{ kind: 'state', run: 'a', state: 'rolling-back', time: at(18) }] as unknown as JournalRecord[];
    const run = {
      id: 'a',
      state: 'rolled-back',
      cause: { kind: 'worse', text: 'failed requests\nmore' },
      startedAt: at(0),
      changedAt: at(20),
      weights: [{ time: at(10), reason: 'step' }],
      verdicts: [{ at: 0, verdict: { reasons: [{ code: 'worse', test: 'errors' }], canary: { requests: 7 } } }],
    } as unknown as DeployRun;
    const order = (second: number, http: number) => ({ sentAt: Date.parse(at(second)), tookMs: 5, http });
    const orders = [order(5, 500), order(11, 500), order(12, 201), order(13, 422), order(14, 409), order(25, 500)];
    expect(outcomeOf(run, records, orders)).toEqual({
      end: 'rolled-back',
      by: 'test E',
      why: 'failed requests',
      seconds: 8,
      failed: 2,
      served: 7,
    });
  });
});

describe('the journal of a run', () => {
  it('has the last of a row that was played again, and leaves out a line that was cut off', () => {
    const journal = parseReleases(`${lines(row, { ...row, seconds: 9 })}\n{"type":"row","id":"lea`);
    expect(journal.rows.get('errors-20')?.seconds).toBe(9);
    expect(waitingIn(journal, ['errors-20', 'leak'])).toEqual(['leak']);
  });

  it('has rows again that said nothing', () => {
    expect(waitingIn(parseReleases(lines({ ...row, end: 'unknown' })), ['errors-20'])).toEqual(['errors-20']);
  });

  it.each([
    ['of another kind', '{"type":"row"}', 'its first line is not the start of a run'],
    ['of another version', '{"type":"releases","version":"v0"}', `it is of version v0, not ${JOURNAL_VERSION}`],
  ])('is refused where it is %s', (_title, text, message) => {
    expect(() => parseReleases(text)).toThrow(message);
  });
});

it('reports false rollbacks of the same sources beside what the tests promise', () => {
  const same = (number: number, end: RowRecord['end']) => ({ ...row, id: `aa#${number}`, end });
  const report = reportOf(parseReleases(lines(same(1, 'promoted'), same(2, 'rolled-back'), same(3, 'unknown'), row)));
  expect(report.identical).toEqual({ rollouts: 2, rolledBack: 1, expected: 0.02 });
  const text = renderReleases(report);
  expect(text).toContain('| 500 for 20 % | test E | rolled-back by test E | 8.0 s | 45 s | 2 | 10 | yes |');
  expect(text).toContain('The same sources: 2 rollouts, 1 rolled back; 0.02 are expected at most.');
});
