/*
 * Goal: a journal has one score, and a seed one round, in every process, whatever its time zone and its language are.
 * Method: another process, with others of both, computes the same hundreds.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { readScenarios } from '../format/catalog.ts';
import { components, mechanisms, scopes } from '../format/vocabulary.ts';
import type { DrillEvent } from '../journal/records.ts';
import { digestOf } from '../seal/canonical.ts';
import { candidatesOf, draw } from '../seal/draw.ts';
import { aJournal, type Happening } from '../testing/a-journal.ts';
import { scoreOf } from './score.ts';

const scenarios = await readScenarios(cloneRoot());
const JOURNALS = 100;
const DRAWS = 1_000;
const ELSEWHERE = { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
const by = 'ada';

const event: fc.Arbitrary<DrillEvent> = fc.oneof(
  fc.constant<DrillEvent>({ type: 'ack', alert: 'OrdersErrorBudgetBurn', by }),
  fc.constant<DrillEvent>({ type: 'all-clear', by }),
  fc.constantFrom('logs', 'traces', 'status').map((source): DrillEvent => ({ type: 'look', source })),
  fc.constantFrom('detect', 'locate', 'mitigate').map((stage): DrillEvent => ({ type: 'hint', stage }) as DrillEvent),
  fc
    .record({
      component: fc.constantFrom(...components),
      mechanism: fc.constantFrom(...mechanisms),
      scope: fc.constantFrom(...scopes),
    })
    .map((blame): DrillEvent => ({ type: 'blame', ...blame, evidence: [], by })),
  fc
    .constantFrom('stock', 'orders', 'orders-payments')
    .map((target): DrillEvent => ({ type: 'action', change: 'restart', target, from: 'ready', to: 'ready', by })),
  fc.nat({ max: 31 }).map((spans): DrillEvent => ({ type: 'proof', status: 'Confirmed', spans, expectedSpans: 31 })),
  fc.nat({ max: 3 }).map((lost): DrillEvent => ({ type: 'audit', lost, doubled: 0 })),
);

const journal = fc
  .record({
    scenario: fc.constantFrom(...scenarios),
    happenings: fc.array(fc.tuple(fc.nat({ max: 110 }), event), { maxLength: 12 }),
    curedAt: fc.integer({ min: 35, max: 110 }),
  })
  .map(({ scenario, happenings, curedAt }) =>
    aJournal({
      scenario,
      happenings: happenings as readonly Happening[],
      endsAt: 120,
      failing: scenario.level === 0 ? [] : [[30, curedAt]],
    }),
  );

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-score-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a program of this folder prints as JSON, in a process elsewhere. */
async function elsewhere(program: string): Promise<unknown> {
  const env = { ...process.env, ...ELSEWHERE };
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env,
    cwd: import.meta.dirname,
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout);
}
const at = (file: string) => JSON.stringify(join(import.meta.dirname, file));

it('100 of 100 journals have the same score in another process', async () => {
  const journals = fc.sample(journal, { numRuns: JOURNALS, seed: 19 });
  const file = join(folder, 'journals.json');
  await writeFile(file, JSON.stringify(journals));
  const scores = await elsewhere(`
    const { readFileSync } = await import('node:fs');
    const { scoreOf } = await import(${at('score.ts')});
    console.log(JSON.stringify(JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8')).map(scoreOf)));`);
  expect(scores).toEqual(JSON.parse(JSON.stringify(journals.map(scoreOf))));
  expect(new Set(journals.map((one) => JSON.stringify(scoreOf(one)))).size).toBeGreaterThan(JOURNALS / 2);
});

it('1,000 of 1,000 seeds draw the same round in another process', async () => {
  const candidates = candidatesOf(scenarios, 3, { hasDeploy: true });
  const digests = Array.from({ length: DRAWS }, (_, seed) =>
    digestOf(draw(scenarios, { seed: String(seed), level: 3, candidates })),
  );
  const drawn = await elsewhere(`
    const { digestOf } = await import(${at('../seal/canonical.ts')});
    const { candidatesOf, draw } = await import(${at('../seal/draw.ts')});
    const { readScenarios } = await import(${at('../format/catalog.ts')});
    const scenarios = await readScenarios(${JSON.stringify(cloneRoot())});
    const candidates = candidatesOf(scenarios, 3, { hasDeploy: true });
    const one = (_, seed) => digestOf(draw(scenarios, { seed: String(seed), level: 3, candidates }));
    console.log(JSON.stringify(Array.from({ length: ${DRAWS} }, one)));`);
  expect(drawn).toEqual(digests);
});
