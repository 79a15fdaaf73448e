import { glob } from 'node:fs/promises';
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
      run(`rules of ${profile}`, ['check', 'rules', ...rules], rules.length, options),
      ...(tests.length > 0 ? [run(`tests of ${profile}`, ['test', 'rules', ...tests], tests.length, options)] : []),
    ];
  });
  return Promise.all(checks);
}

async function run(
  name: string,
  words: readonly string[],
  count: number,
  { promtool, root, env, signal }: AlertRulesOptions,
): Promise<CheckResult> {
  const began = performance.now();
  const tookMs = () => Math.round(performance.now() - began);
  const evidence = count === 1 ? '1 file' : `${count} files`;
  try {
    await runProgram(promtool, words, { cwd: root, env: { GOGC: COLLECTS_AT, ...env }, signal });
    return { name, verdict: 'pass', evidence, tookMs: tookMs() };
  } catch (error) {
    signal.throwIfAborted();
    return { name, verdict: 'fail', evidence, tookMs: tookMs(), details: complaintOf(error) };
  }
}
