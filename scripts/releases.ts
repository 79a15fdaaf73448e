/** The releases that the tree records. Nothing depends on tags, which a clone may lack. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Release {
  readonly version: string;
  /** Full hash. The entry is added by the commit after it. */
  readonly commit: string;
  /** The day of that commit, `YYYY-MM-DD`. */
  readonly date: string;
}

const isRelease = ({ version, commit, date }: Release) =>
  /^\d+\.\d+\.\d+$/.test(version) && /^[0-9a-f]{40}$/.test(commit) && /^\d{4}-\d\d-\d\d$/.test(date);

/** What `releases.json` in this clone records, oldest first. Throws when an entry is malformed, or when there is none. */
export function readReleases(root: string): readonly [Release, ...Release[]] {
  const [first, ...others] = JSON.parse(readFileSync(join(root, 'releases.json'), 'utf8')) as Release[];
  if (first === undefined) throw new Error('releases.json records no release: there is nothing to compare with');
  const malformed = [first, ...others].find((release) => !isRelease(release));
  if (malformed !== undefined) {
    throw new Error(`releases.json: expected {version, commit, date}, got ${JSON.stringify(malformed)}`);
  }
  return [first, ...others];
}

/** Fetches the commit of a release where a shallow clone lacks it. Throws when it is not available. */
export function ensureCommit(root: string, { version, commit }: Release): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe', encoding: 'utf8' });
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch {
    try {
      git('fetch', '--quiet', '--depth=1', 'origin', commit);
    } catch (error) {
      const why = String((error as { stderr?: unknown }).stderr ?? error).trim();
      throw new Error(`commit ${commit} of release ${version} is neither in this clone nor at its origin: ${why}`);
    }
  }
}
