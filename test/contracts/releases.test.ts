/** `releases.json` names real commits, and what is kept of a release is what its commit holds. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureCommit, type Release, readReleases } from '../../scripts/releases.ts';
import { contractsDir } from './released.ts';

const root = join(import.meta.dirname, '../..');
const releases = readReleases(root);

const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=Release', '-c', 'user.email=release@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** Git's hash of each file of a folder, by its path there. How buf lints is not released. */
type Hashes = Readonly<Record<string, string>>;

function committed(release: Release, folder: string): Hashes {
  const rows = git(root, 'ls-tree', '-r', `${release.commit}:${folder}`).split('\n');
  const files = rows.map((row) => row.match(/^\d+ blob (\w+)\t(.*)$/)?.slice(1) as [string, string]);
  return Object.fromEntries(files.filter(([, path]) => path !== 'buf.yaml').map(([hash, path]) => [path, hash]));
}

function kept({ version }: Release, folder: string): Hashes {
  const place = join(contractsDir, 'released', version, folder);
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const content = readFileSync(path);
      const hash = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
      return [path.slice(place.length + 1), hash];
    }),
  );
}

describe.each(releases)('release $version', (release) => {
  it('has the date of its commit', () => {
    ensureCommit(root, release);
    expect(git(root, 'show', '-s', '--format=%cs', release.commit)).toBe(release.date);
  });

  it.each([
    ['contracts/openapi', 'openapi'],
    ['contracts/events', 'events'],
    ['proto', 'proto'],
    ['migrations', 'migrations'],
  ])('keeps %s as its commit holds it', (source, copy) => {
    ensureCommit(root, release);
    expect(kept(release, copy)).toEqual(committed(release, source));
  });
});

it('every release whose contracts are kept is recorded', () => {
  const versions = releases.map(({ version }) => version);
  expect(versions.toSorted()).toEqual(readdirSync(join(contractsDir, 'released')).toSorted());
});

describe('a clone', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'shop-releases-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const aRelease = (commit: string): Release => ({ version: '0.1.0', commit, date: '2026-11-22' });

  it('that records no release has nothing to compare with', () => {
    writeFileSync(join(folder, 'releases.json'), '[]');
    expect(() => readReleases(folder)).toThrow('releases.json records no release');
  });

  it('that records a tag instead of a commit is refused', () => {
    writeFileSync(join(folder, 'releases.json'), JSON.stringify([aRelease('v0.1.0')]));
    expect(() => readReleases(folder)).toThrow('expected {version, commit, date}, got {"version":"0.1.0","commit":"v0');
  });

  it('that is shallow fetches the commit of a release', () => {
    const origin = join(folder, 'origin');
    git(folder, 'init', '--quiet', origin);
    for (const message of ['Release', 'Later']) git(origin, 'commit', '--quiet', '--allow-empty', '-m', message);
    const commit = git(origin, 'rev-parse', 'HEAD~1');
    git(folder, 'clone', '--quiet', '--depth=1', `file://${origin}`, 'clone');
    ensureCommit(join(folder, 'clone'), aRelease(commit));
    expect(git(join(folder, 'clone'), 'cat-file', '-t', commit)).toBe('commit');
  });

  it('whose origin lacks the commit of a release says so', () => {
    git(folder, 'init', '--quiet', '.');
    const missing = 'a'.repeat(40);
    expect(() => ensureCommit(folder, aRelease(missing))).toThrow(
      `commit ${missing} of release 0.1.0 is neither in this clone nor at its origin`,
    );
  });
});
