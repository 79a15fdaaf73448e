/*
 * Goal: builds of releases do not pile up, and what a project runs or can roll back to is never removed.
 * Method: folders of builds, and projects of one clone with their journals and overrides.
 */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noOverrides, writeOverrides } from '../platform/overrides.ts';
import { createDeployJournal } from './journal.ts';
import { keptReleases, pruneReleases, rollbackTargets } from './kept-releases.ts';
import { type DeployState, type JournalRecord, runsIn } from './run.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-kept-'));
});
afterEach(() => rm(root, { recursive: true }));

const builds = 'dist/releases/orders';
const releaseOf = (version: string) => ({
  version,
  folder: `${builds}/${version}`,
  digest: version,
  seededBugs: [],
  env: {},
});
const projectOf = (name: string) => ({ root, stateDir: join(root, '.shop', name) });

/** Used at this second. */
async function build(version: string, second: number): Promise<void> {
  const file = join(root, builds, version, 'release.json');
  await mkdir(join(root, builds, version), { recursive: true });
  await writeFile(file, '{}');
  await utimes(file, second, second);
}

let id = 0;
function deploy(from: string, to: string, state: DeployState = 'done'): readonly JournalRecord[] {
  id += 1;
  return [
    { kind: 'planned', service: 'orders', strategy: 'rolling', source: 'HEAD', from, to, keepMs: 0 },
    { kind: 'releases', from: releaseOf(from), to: releaseOf(to) },
    { kind: 'state', state },
  ].map((line) => ({ time: '2026-11-24T09:00:00.000Z', run: `r${id}`, ...line }) as JournalRecord);
}

const store = (project: string, ...records: readonly JournalRecord[]) =>
  createDeployJournal(projectOf(project), () => undefined).append(...records);

const left = async () => (await readdir(join(root, builds))).toSorted();

describe('what can be rolled back to', () => {
  const versionsOf = (...records: readonly JournalRecord[]) =>
    rollbackTargets(runsIn(records), 'orders').map(({ version }) => version);

  it('is what deploys brought and replaced, each once, the last first', () => {
    expect(versionsOf(...deploy('1', '2'), ...deploy('2', '3'), ...deploy('3', '1'))).toEqual(['1', '3', '2']);
  });

  it('is not what was rolled back', () => {
    expect(versionsOf(...deploy('1', '2'), ...deploy('2', '3', 'rolled-back'))).toEqual(['2', '1']);
  });

  it('is five releases at most', () => {
    const all = Array.from({ length: 9 }, (_, index) => deploy(String(index), String(index + 1))).flat();
    expect(versionsOf(...all)).toEqual(['9', '8', '7', '6', '5']);
  });

  it('is what is still there', async () => {
    await build('2', 1);
    await store('shop', ...deploy('1', '2'));
    expect((await keptReleases(projectOf('shop'), 'orders')).map(({ version }) => version)).toEqual(['2']);
    expect(await keptReleases(projectOf('shop'), 'stock')).toEqual([]);
  });
});

describe('builds', () => {
  it('are removed but for the last three', async () => {
    for (const [second, version] of ['a', 'b', 'c', 'd', 'e'].entries()) await build(version, second + 1);
    expect(await pruneReleases(projectOf('shop'), 'orders')).toEqual([`${builds}/a`, `${builds}/b`]);
    expect(await left()).toEqual(['c', 'd', 'e']);
  });

  it('stay where a project of the clone runs them, or can roll back to them', async () => {
    for (const [second, version] of ['ran', 'runs', 'old', 'bad', 'x', 'y', 'z'].entries())
      await build(version, second + 1);
    await store('shop', ...deploy('ran', 'z'), ...deploy('z', 'bad', 'rolled-back'));
    await mkdir(projectOf('other').stateDir, { recursive: true });
    await writeOverrides(join(projectOf('other').stateDir, 'overrides.json'), {
      ...noOverrides,
      releases: { orders: releaseOf('runs') },
    });
    expect(await pruneReleases(projectOf('shop'), 'orders')).toEqual([`${builds}/bad`, `${builds}/old`]);
    expect(await left()).toEqual(['ran', 'runs', 'x', 'y', 'z']);
  });

  it('of another service stay', async () => {
    await mkdir(join(root, 'dist/releases/stock/a'), { recursive: true });
    expect(await pruneReleases(projectOf('shop'), 'orders')).toEqual([]);
    expect(existsSync(join(root, 'dist/releases/stock/a'))).toBe(true);
  });

  it('that were not finished go when nothing can work on them any more', async () => {
    await mkdir(join(root, builds, 'new.17.tmp'), { recursive: true });
    await mkdir(join(root, builds, 'old.16.tmp'), { recursive: true });
    await utimes(join(root, builds, 'old.16.tmp'), 1, 1);
    expect(await pruneReleases(projectOf('shop'), 'orders')).toEqual([`${builds}/old.16.tmp`]);
  });

  it('stay where it is unknown what a project runs', async () => {
    for (const [second, version] of ['a', 'b', 'c', 'd'].entries()) await build(version, second + 1);
    await mkdir(projectOf('other').stateDir, { recursive: true });
    await appendFile(join(projectOf('other').stateDir, 'overrides.json'), '{');
    await expect(pruneReleases(projectOf('shop'), 'orders')).rejects.toMatchObject({ code: 'state_unreadable' });
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  });
});
