/*
 * Goal: what is wrong with a silent list is reported before a platform is started, and a complete run is evaluated from its journal.
 * Method: the command as a handler, in a project whose root is the clone; no platform is started.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SilentLine } from '../../alert-matrix/silent/journal.ts';
import { aSilentStart, aSituation, aSituationRecord } from '../../alert-matrix/silent/testing/situation-records.ts';
import { runSilentCommand, type SilentOptions } from './run-silent.ts';
import { aHome, type Home } from './testing/a-home.ts';

let home: Home;
beforeEach(async () => {
  home = await aHome();
});
afterEach(() => home[Symbol.asyncDispose]());

const run = (options: SilentOptions) => home.run(runSilentCommand, options);
const runJson = async (options: SilentOptions) => JSON.parse(await home.run(runSilentCommand, options, { json: true }));
const aJournal = (...lines: readonly SilentLine[]) => home.addRun('silent', lines);

describe('a list is refused', () => {
  it.each([
    ['of an unknown situation', { only: ['steadi'] }, 'unknown_situation'],
    ['of a run that there is not', { resume: 'yesterday' }, 'unknown_run'],
    ['with a report that cannot be written', { html: '/nowhere/silent.html' }, 'report_not_writable'],
  ])('%s', async (_, options, code) => {
    await expect(run(options)).rejects.toMatchObject({ code, exitCode: 2 });
  });
});

it('lists what it would measure, and how long that takes', async () => {
  expect(await runJson({ dryRun: true, only: ['idle', 'suspended'], scale: 0.1 })).toMatchObject({
    situations: [{ name: 'idle' }, { name: 'suspended' }],
    totalMs: 120_000 + 82_000,
  });
  expect(await run({ dryRun: true, only: ['idle'] })).toMatch(/idle +20 min 0 s +shared/);
});

it('lists what no other platform runs beside', async () => {
  expect(await runJson({ dryRun: true, only: ['idle', 'spike'] })).toMatchObject({ alone: ['spike'] });
  expect(await run({ dryRun: true, only: ['spike'] })).toMatch(/spike .*alone/);
});

it('evaluates a complete run again, without a platform', async () => {
  const resume = await aJournal(aSilentStart([aSituation('idle')]), aSituationRecord('idle'));
  const files = { html: join(home.folder, 'silent.html'), junit: join(home.folder, 'silent.xml') };
  expect(await run({ resume, ...files })).toContain('0 pages in 1 min 20 s, 1 situations');
  expect(process.exitCode).toBe(0);
  expect(await readFile(files.html, 'utf8')).toContain('idle');
  expect(await readFile(files.junit, 'utf8')).toContain('classname="alerts.silent" name="idle"');
});

it('a page has exit code 1', async () => {
  const firings = [{ alertname: 'OutboxStalled', severity: 'page' as const, firedMs: 30_000 }];
  const resume = await aJournal(aSilentStart([aSituation('idle')]), aSituationRecord('idle', { firings }));
  expect(await runJson({ resume })).toMatchObject({ verdict: 'fail', pages: 1, situations: [{ isHit: false }] });
  expect(process.exitCode).toBe(1);
});
