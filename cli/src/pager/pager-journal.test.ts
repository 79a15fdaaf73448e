/*
 * Goal: what a client was confirmed is there after a kill at any moment, and a torn file costs no more than it held.
 * Method: a pager over files of a temporary folder; a kill is a pager that is not closed; files are cut at every byte.
 */
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPager, type Pager } from './pager.ts';
import { openPagerJournal, type PagerFiles, pagerFiles, readHistory } from './pager-journal.ts';

const NOW_MS = Date.parse('2026-11-24T05:00:00.000Z');
let stateDir: string;
let files: PagerFiles;
let problems: string[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'shop-pager-'));
  files = pagerFiles({ stateDir });
  problems = [];
});
afterEach(() => rm(stateDir, { recursive: true }));

async function open(maxBytes?: number): Promise<Pager> {
  const report = (problem: string) => void problems.push(problem);
  const { state, journal } = await openPagerJournal(files, report, maxBytes);
  const options = { delivers: true, isPipelineExpected: () => undefined };
  return createPager({ state, journal, now: () => NOW_MS, report, ...options });
}

const alert = (alertname: string, endsAtMs = NOW_MS + 60_000) => ({
  labels: { alertname, severity: 'page' },
  annotations: { summary: 'x'.repeat(100) },
  startsAtMs: NOW_MS - 1_000,
  endsAtMs,
});
const silence = (name: string) => ({
  matchers: [{ name: 'alertname', value: name, isRegex: false, isEqual: true }],
  startsAtMs: NOW_MS,
  endsAtMs: NOW_MS + 60_000,
  createdBy: 'anna',
  comment: 'planned',
  annotations: {},
});
const known = (pager: Pager) => ({
  alerts: pager.alerts().map(({ alert, acknowledged }) => [alert.labels.alertname, acknowledged?.by]),
  silences: pager.silences().map(({ id }) => id),
  deliveries: pager.deliveries().map(({ of, action }) => [of, action]),
});

it('has after a kill what it had before', async () => {
  const pager = await open();
  await pager.receive([alert('OutboxStalled'), alert('SagasStuck')]);
  await pager.acknowledge([pager.alerts()[0]?.alert.fingerprint as string], 'anna');
  await pager.setSilence(silence('SagasStuck'));
  await pager.receive([alert('OutboxStalled', NOW_MS)]);
  expect(known(await open())).toEqual(known(pager));
});

it('has after an orderly end what it had before, without its history too', async () => {
  const pager = await open();
  await pager.receive([alert('OutboxStalled')]);
  await pager.setSilence(silence('Other'));
  await pager.close();
  await rm(files.historyFile);
  expect(known(await open())).toEqual(known(pager));
});

it('goes on with its numbers', async () => {
  await (await open()).receive([alert('A')]);
  const again = await open();
  await again.receive([alert('B')]);
  await again.close();
  await (await open()).receive([alert('C')]);
  expect((await readHistory(files)).values.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
});

it('keeps what others may not read', async () => {
  const pager = await open();
  await pager.receive([alert('OutboxStalled')]);
  await pager.close();
  const modes = await Promise.all([files.folder, files.stateFile, files.historyFile].map((path) => stat(path)));
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '600', '600']);
});

it('loses the cut event alone, wherever a write was cut off', async () => {
  const pager = await open();
  await pager.receive([alert('OutboxStalled')]);
  const whole = await readFile(files.historyFile);
  const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
  for (let end = lastLine; end < whole.length; end += 7) {
    await writeFile(files.historyFile, whole.subarray(0, end));
    const again = await open();
    // `fired` is there; `notified` may be cut, and then the page is notified again: never is one lost.
    expect(again.alerts()).toHaveLength(1);
    await again.tick();
    expect(again.deliveries()).toHaveLength(1);
  }
});

describe('a state that cannot be read', () => {
  it.each(['', '{"half', '[]', 'null', '{"sequence": "x"}'])(
    '%j is set aside, and the history replaces it',
    async (torn) => {
      const pager = await open();
      await pager.receive([alert('OutboxStalled')]);
      await pager.close();
      await writeFile(files.stateFile, torn);
      expect(known(await open())).toEqual(known(pager));
      expect(problems).toEqual([expect.stringContaining('state.json cannot be read')]);
      expect(await readFile(`${files.stateFile}.unreadable`, 'utf8')).toBe(torn);
    },
  );
});

it('ignores lines that are no events, and reports where they are', async () => {
  await (await open()).receive([alert('OutboxStalled')]);
  await appendFile(files.historyFile, 'nonsense\n{"sequence":"3"}\n');
  expect((await open()).alerts()).toHaveLength(1);
  expect(problems).toEqual([expect.stringContaining('history.jsonl:3'), expect.stringContaining('history.jsonl:4')]);
});

it('has a history of bounded size, and loses no alert by it', async () => {
  const maxBytes = 4_096;
  const pager = await open(maxBytes);
  await pager.receive([alert('StaysOn')]);
  await pager.setSilence(silence('Other'));
  for (let round = 0; round < 60; round++) {
    await pager.receive([alert('Flaps')]);
    await pager.receive([alert('Flaps', NOW_MS)]);
  }
  const sizes = await Promise.all(
    [files.historyFile, `${files.historyFile}.1`].map(async (file) => (await stat(file)).size),
  );
  expect(Math.max(...sizes)).toBeLessThan(2 * maxBytes);
  expect((await readHistory(files)).values.length).toBeLessThan(60);
  expect(known(await open())).toEqual(known(pager));
});
