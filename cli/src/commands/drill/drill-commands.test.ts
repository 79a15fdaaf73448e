/*
 * Goal: a journal proves and scores the same wherever it is.
 * Method: journals of a project's folder, without a platform.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { findScenario, readScenarios } from '../../drills/format/catalog.ts';
import type { DrillRecord } from '../../drills/journal/records.ts';
import { candidatesOf } from '../../drills/seal/draw.ts';
import { seal } from '../../drills/seal/envelope.ts';
import { aJournal } from '../../drills/testing/a-journal.ts';
import { createOutput } from '../../output/output.ts';
import { cloneRoot, openProject, type Project } from '../../platform/project.ts';
import { runDrillLevels } from './run-drill-catalog.ts';
import { runDrillDebrief, runDrillHistory } from './run-drill-debrief.ts';
import { runDrillScore, runDrillVerify } from './run-drill-score.ts';
import { runDrillSeal } from './run-drill-seal.ts';
import { type DrillStartOptions, runDrillStart } from './run-drill-start.ts';
import { runDrillValidate } from './run-drill-validate.ts';

const scenarios = await readScenarios(cloneRoot());
const candidates = candidatesOf(scenarios, 2, { hasDeploy: false });
const envelope = seal(scenarios, { seed: '7', level: 2, candidates, build: 'x' });
const finished = aJournal({ scenario: findScenario(scenarios, 'd201'), endsAt: 60 });

let home: string;
let project: Project;
let printed: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-drill-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(home, { recursive: true });
});

function deps(json = false): CommandDeps {
  printed = '';
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  if (json) output.use('json');
  return { output, projectFrom: () => project } as unknown as CommandDeps;
}

/** A round of the project; resolves with its journal's path. */
async function store(id: string, records: readonly DrillRecord[]): Promise<string> {
  const folder = join(project.stateDir, 'drills', id);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'journal.jsonl');
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return file;
}

it('scores the last round, one by its id, and one by its path, alike', async () => {
  await store('20260101-1', finished.slice(0, 5));
  const file = await store('20260101-2', finished);
  const scores: unknown[] = [];
  for (const name of [undefined, '20260101-2', file]) {
    await runDrillScore(name, {}, deps(true));
    const { round: _, ...score } = JSON.parse(printed);
    scores.push(score);
  }
  expect(scores[0]).toMatchObject({ scenario: 'd201', points: 15, rubric: 'v1' });
  expect(scores).toEqual([scores[0], scores[0], scores[0]]);
  expect(process.exitCode).toBeUndefined();
});

it('prints each lost point with its reason and its record', async () => {
  await store('a', finished);
  await runDrillScore(undefined, {}, deps());
  expect(printed).toMatch(/^15 of 100 {2}d201, limit, rubric v1\n/);
  expect(printed).toMatch(
    /\ndetect {5}0 of 20\n {2}-20 {2}no page was acknowledged, and no incident declared \(record \d+\)\n/,
  );
  expect(printed).toMatch(/\ninjected +30\.0 s\n/);
});

it('ends with 1 below the points of --pass, and with 5 without a score', async () => {
  await store('a', finished);
  await runDrillScore(undefined, { pass: 15 }, deps());
  expect(process.exitCode).toBeUndefined();
  await runDrillScore(undefined, { pass: 16 }, deps());
  expect(process.exitCode).toBe(1);
  await store('b', finished.slice(0, 9));
  await runDrillScore('b', {}, deps());
  expect([process.exitCode, printed]).toEqual([5, 'running: the journal has no end\n']);
});

it('verifies a journal: 0 for one that nothing was done to, 1 for a changed one, 5 for other scenarios', async () => {
  const journal = aJournal({ scenario: envelope.scenario, envelope, endsAt: 60 });
  await store('a', journal);
  await runDrillVerify('a', {}, deps(true));
  expect(JSON.parse(printed)).toMatchObject({ round: 'a', verdict: 'pass', checks: [{}, {}, {}, {}] });
  expect(process.exitCode).toBe(0);
  await store('b', journal.toSpliced(10, 1));
  await runDrillVerify('b', {}, deps());
  expect([process.exitCode, printed]).toEqual([1, expect.stringContaining('record 11 has the number 12')]);
  await store('c', finished);
  await runDrillVerify('c', {}, deps());
  expect([process.exitCode, printed]).toEqual([5, expect.stringContaining('the scenarios differ')]);
});

it('writes the debrief of a round as a page, and ends with 2 where that cannot be', async () => {
  const file = await store('a', finished);
  const html = join(home, 'debrief.html');
  await runDrillDebrief(file, { html }, deps(true));
  expect(JSON.parse(printed)).toMatchObject({ round: file, score: { points: 15 }, written: [html] });
  expect(await readFile(html, 'utf8')).toContain('<h1>network:orders-payments, slow, all-orders</h1>');
  await expect(runDrillDebrief('a', { html: join(home, 'none', 'x.html') }, deps())).rejects.toMatchObject({
    code: 'report_not_writable',
    exitCode: 2,
  });
  await store('b', finished.slice(0, 9));
  await runDrillDebrief('b', {}, deps());
  expect([process.exitCode, printed]).toEqual([5, expect.stringContaining('not revealed')]);
});

it('starts no round of a locked level, nor one of options that exclude each other', async () => {
  const start = (part: Partial<DrillStartOptions>, pack?: string) =>
    runDrillStart(pack, { level: 1, limit: 900_000, hints: true, as: 'ada', ...part }, deps());
  await expect(start({ level: 2 })).rejects.toMatchObject({
    code: 'drill_locked',
    exitCode: 2,
    why: 'it takes 3 more rounds of level 1 with 70 points or more',
  });
  // Nothing runs: these come to ask for it.
  for (const open of [{}, { level: 2, seed: '7' }, { weak: true, exam: true }]) {
    await expect(start(open)).rejects.toMatchObject({ exitCode: 4 });
  }
  for (const unclear of [{ exam: true, seed: '7' }, { weak: true, scenario: 'd101' }, { passphraseFile: 'x' }]) {
    await expect(start(unclear)).rejects.toMatchObject({ code: 'invalid_usage' });
  }
  await expect(start({ seed: '7' }, 'a.drill')).rejects.toMatchObject({ code: 'invalid_usage' });
});

it('seals a round into a file that its passphrase opens, and replaces none', async () => {
  const [out, passphraseFile] = [join(home, 'friday.drill'), join(home, 'passphrase')];
  await writeFile(passphraseFile, 'correct horse\n');
  const sealIt = () => runDrillSeal({ level: 3, seed: '7', out, passphraseFile }, deps(true));
  await sealIt();
  const { commitment, scenario } = JSON.parse(printed);
  const text = await readFile(out, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ commitment, level: 3 });
  expect(text).not.toContain(scenario);
  await expect(sealIt()).rejects.toMatchObject({ code: 'report_not_writable' });
  const start = (file: string, passphrase: string) =>
    runDrillStart(file, { level: 1, limit: 900_000, hints: true, passphraseFile: passphrase }, deps());
  await expect(start(out, passphraseFile)).rejects.toMatchObject({ exitCode: 4 });
  await writeFile(passphraseFile, 'wrong horse');
  await expect(start(out, passphraseFile)).rejects.toMatchObject({ code: 'pack_not_opened' });
  await expect(start(passphraseFile, passphraseFile)).rejects.toMatchObject({ code: 'invalid_pack' });
  await expect(start(join(home, 'none'), passphraseFile)).rejects.toMatchObject({ code: 'invalid_pack' });
  await writeFile(passphraseFile, 'short');
  await expect(start(out, passphraseFile)).rejects.toMatchObject({ code: 'no_passphrase' });
  await expect(start(out, join(home, 'none'))).rejects.toMatchObject({ code: 'no_passphrase' });
});

it('shows the rounds of the project with progress by component and family', async () => {
  await store('a', finished);
  await runDrillHistory({}, deps());
  expect(printed).toMatch(/\na +ada +15 +limit +d201 /);
  expect(printed).toMatch(/\nFAMILY .*\ntime +1 +15 +- +- +-/);
  await runDrillHistory({}, deps(true));
  expect(JSON.parse(printed)).toMatchObject({
    rounds: [{ id: 'a' }],
    progress: [{ by: 'component' }, { by: 'family' }],
  });
});

it('ends with 2 where there is no round, with the nearest id or the file', async () => {
  await expect(runDrillScore(undefined, {}, deps())).rejects.toMatchObject({
    code: 'unknown_round',
    what: 'no rounds yet',
  });
  await store('20260101-1', finished);
  await expect(runDrillScore('20260101-2', {}, deps())).rejects.toMatchObject({
    exitCode: 2,
    what: 'unknown round "20260101-2", did you mean "20260101-1"?',
  });
  await expect(runDrillVerify('./none.jsonl', {}, deps())).rejects.toMatchObject({ code: 'invalid_journal' });
});

it('lists levels without naming a scenario, and validates all scenarios or some', async () => {
  await runDrillLevels({ as: 'ada' }, deps());
  expect(printed.split('\n')[0]).toBe('LEVEL  SCENARIOS  UNLOCKED  ROUNDS  POINTS  TRAINS');
  expect(printed).toMatch(/\n1 +5 +yes +0 +- /);
  expect(printed).toMatch(/\n4 +4 +3 to go +0 +- /);
  expect(printed).not.toMatch(/d\d{3}/);
  await runDrillValidate([], {}, deps());
  expect(printed).toBe('26 scenarios are valid\n');
  await runDrillValidate(['d101'], {}, deps(true));
  expect(JSON.parse(printed)).toEqual({ valid: [{ id: 'd101', level: 1 }] });
  await expect(runDrillValidate(['d11'], {}, deps())).rejects.toMatchObject({ code: 'unknown_drill' });
});
