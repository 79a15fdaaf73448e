import { glob, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { complaintOf, runProgram } from '../process/run-program.ts';
import type { CheckResult } from '../shared/verdict.ts';

/** Profiles are folders in it; each has rules, and tests of them in `tests/`. */
const FOLDER = join('dashboards', 'prometheus');

/** A run is short, and its memory small: the collector of Go took a fifth of the time. In percent of what is alive. */
const COLLECTS_AT = '400';

export interface AlertRulesOptions {
  /** Path of the program. */
  readonly promtool: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Has promtool check the rules of each profile and run their tests: two checks a profile, all profiles concurrently. Nothing where there
 * are no rules.
 */
export async function checkAlertRules(options: AlertRulesOptions): Promise<readonly CheckResult[]> {
  const files: string[] = [];
  for await (const file of glob(join(FOLDER, '*', '{,tests/}*.{yaml,yml}'), { cwd: options.root })) files.push(file);
  const profiles = Map.groupBy(files.toSorted(), (file) => relative(FOLDER, file).split('/')[0] ?? '');
  const checks = [...profiles].flatMap(([profile, all]) => {
    const tests = all.filter((file) => file.includes('/tests/'));
    const rules = all.filter((file) => !tests.includes(file));
    return [
      run(`rules of ${profile}`, ['check', 'rules'], [rules], options),
      ...(tests.length > 0 ? [runTests(`tests of ${profile}`, tests, options)] : []),
    ];
  });
  return Promise.all(checks);
}

/** One program uses one core: there is one for each. */
async function runTests(name: string, tests: readonly string[], options: AlertRulesOptions): Promise<CheckResult> {
  const sizes = await Promise.all(
    tests.map(async (file) => ({ file, size: (await stat(join(options.root, file))).size })),
  );
  const largestFirst = sizes.toSorted((a, b) => b.size - a.size).map(({ file }) => file);
  const count = Math.min(availableParallelism(), tests.length);
  const shares = Array.from({ length: count }, (_, share) =>
    largestFirst.filter((_, index) => index % count === share),
  );
  return run(name, ['test', 'rules'], shares, options);
}

/** A program for each of the `shares`. */
async function run(
  name: string,
  words: readonly string[],
  shares: readonly (readonly string[])[],
  { promtool, root, env, signal }: AlertRulesOptions,
): Promise<CheckResult> {
  const began = performance.now();
  const ends = await Promise.allSettled(
    shares.map((files) =>
      runProgram(promtool, [...words, ...files], { cwd: root, env: { GOGC: COLLECTS_AT, ...env }, signal }),
    ),
  );
  signal.throwIfAborted();
  const count = shares.flat().length;
  const result = {
    name,
    evidence: count === 1 ? '1 file' : `${count} files`,
    tookMs: Math.round(performance.now() - began),
  };
  const complaints = ends.flatMap((end) => (end.status === 'rejected' ? [complaintOf(end.reason)] : []));
  if (complaints.length === 0) return { ...result, verdict: 'pass' };
  return { ...result, verdict: 'fail', details: complaints.join('\n') };
}
