/*
 * Goal: what is wrong with a silent list is reported before a platform is started, and a complete run is evaluated from its journal.
 * Method: the command as a handler, in a project whose root is the clone; no platform is started.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendSilentLine, type SilentLine } from '../../alert-matrix/silent/journal.ts';
import { aSilentStart, aSituation, aSituationRecord } from '../../alert-matrix/silent/testing/situation-records.ts';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { openProject } from '../../platform/project.ts';
import { runSilentCommand, type SilentOptions } from './run-silent.ts';

let home: string;
let printed: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-silent-'));
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(home, { recursive: true });
});

function run(options: SilentOptions, json = false) {
  printed = '';
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const project = openProject('shop', process.cwd(), { SHOPCTL_HOME: home });
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  if (json) output.use('json');
  const deps = { output, projectFrom: () => project, signal: new AbortController().signal, env: {} };
  return runSilentCommand(options, deps as unknown as CommandDeps);
}

async function aJournal(...lines: readonly SilentLine[]): Promise<string> {
  const folder = join(home, 'shop', 'alerts', 'silent', 'a-run');
  await mkdir(folder, { recursive: true });
  for (const line of lines) await appendSilentLine(join(folder, 'journal.jsonl'), line);
  return 'a-run';
}

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
  await run({ dryRun: true, only: ['idle', 'suspended'], scale: 0.1 }, true);
  expect(JSON.parse(printed)).toMatchObject({
    situations: [{ name: 'idle' }, { name: 'suspended' }],
    totalMs: 120_000 + 82_000,
  });
  await run({ dryRun: true, only: ['idle'] });
  expect(printed).toMatch(/idle +20 min/);
});

it('evaluates a complete run again, without a platform', async () => {
  const resume = await aJournal(aSilentStart([aSituation('idle')]), aSituationRecord('idle'));
  const files = { html: join(home, 'silent.html'), junit: join(home, 'silent.xml') };
  await run({ resume, ...files });
  expect(printed).toContain('0 pages in 1 min 20 s, 1 situations');
  expect(process.exitCode).toBe(0);
  expect(await readFile(files.html, 'utf8')).toContain('idle');
  expect(await readFile(files.junit, 'utf8')).toContain('classname="alerts.silent" name="idle"');
});

it('a page has exit code 1', async () => {
  const firings = [{ alertname: 'OutboxStalled', severity: 'page' as const, firedMs: 30_000 }];
  const resume = await aJournal(aSilentStart([aSituation('idle')]), aSituationRecord('idle', { firings }));
  await run({ resume }, true);
  expect(JSON.parse(printed)).toMatchObject({ verdict: 'fail', pages: 1, situations: [{ isHit: false }] });
  expect(process.exitCode).toBe(1);
});
