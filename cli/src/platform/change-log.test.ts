import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { askedFrom, type Change, changeFile, createChangeLog, readChanges } from './change-log.ts';

let stateDir: string;
let problems: string[];
beforeEach(async () => {
  stateDir = join(await mkdtemp(join(tmpdir(), 'shop-changes-')), 'shop');
  problems = [];
});
afterEach(() => rm(join(stateDir, '..'), { recursive: true }));

const log = (options = {}) => createChangeLog({ stateDir }, (problem) => problems.push(problem), options);
const flag = (target: string): Change => ({
  kind: 'flag',
  target,
  from: 'off',
  to: 'on',
  by: { user: 'anna', source: 'command line' },
});
const targets = async () => (await readChanges({ stateDir })).changes.map(({ target }) => target);

it('has each change with an id and its time in UTC, in a file for its user only', async () => {
  await log({ now: () => new Date('2026-11-23T10:00:00+02:00') }).append({ ...flag('a'), reason: 'sale' }, flag('b'));
  const { changes, unreadable } = await readChanges({ stateDir });
  expect(changes).toEqual([
    { id: expect.stringMatching(/^[0-9a-f]{8}$/), time: '2026-11-23T08:00:00.000Z', ...flag('a'), reason: 'sale' },
    { id: expect.stringMatching(/^[0-9a-f]{8}$/), time: '2026-11-23T08:00:00.000Z', ...flag('b') },
  ]);
  expect(unreadable).toEqual([]);
  expect((await stat(changeFile({ stateDir }))).mode & 0o777).toBe(0o600);
  expect((await stat(stateDir)).mode & 0o777).toBe(0o700);
});

it('is empty where nothing was changed', async () => {
  await log().append();
  expect(await readChanges({ stateDir })).toEqual({ changes: [], unreadable: [] });
});

it('reports a line that a kill has cut off, and keeps the ones before and after it', async () => {
  await log().append(flag('a'));
  await appendFile(changeFile({ stateDir }), '{"id":"00000000","time":"2026-');
  expect(await readChanges({ stateDir })).toMatchObject({ unreadable: [`${changeFile({ stateDir })}:2`] });
  await log().append(flag('b'));
  expect(await targets()).toEqual(['a', 'b']);
  expect((await readChanges({ stateDir })).unreadable).toEqual([`${changeFile({ stateDir })}:2`]);
});

it('moves to an older part at its limit, and keeps that part until the next time', async () => {
  for (const name of ['a', 'b', 'c']) await log({ maxBytes: 200 }).append(flag(name));
  expect(await targets()).toEqual(['a', 'b', 'c']);
  expect(await readFile(`${changeFile({ stateDir })}.1`, 'utf8')).toContain('"target":"b"');
  await log({ maxBytes: 1 }).append(flag('d'));
  expect(await targets()).toEqual(['c', 'd']);
});

it('keeps every line, each once, where several find it too large and append', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `flag-${index}`);
  const before = Array.from({ length: 80 }, (_, index) => `before-${index}`);
  await log().append(...before.map(flag));
  const { size } = await stat(changeFile({ stateDir }));
  await Promise.all(names.map((name) => log({ maxBytes: size - 1 }).append(flag(name))));
  expect(problems).toEqual([]);
  expect((await readChanges({ stateDir })).unreadable).toEqual([]);
  expect((await targets()).toSorted()).toEqual([...before, ...names].toSorted());
});

it('reports what it could not record, and does not throw', async () => {
  const file = join(stateDir, '..', 'file');
  await appendFile(file, '');
  await createChangeLog({ stateDir: join(file, 'shop') }, (problem) => problems.push(problem)).append(flag('a'));
  expect(problems).toEqual([expect.stringMatching(/^flag a: not recorded in .*changes\.jsonl: /)]);
});

it('names the user of the operating system', () => {
  expect(askedFrom('watch', 'slow')).toEqual({ by: { user: expect.any(String), source: 'watch' }, reason: 'slow' });
  expect(askedFrom('watch').by.user).not.toBe('');
});
