/** Which end-to-end files are run a second time, and what both runs together say (decision 0064). */
import type { FileReport, RunReport } from './run-report.ts';

/** More failed files than these are a defect of the code, not of timing. */
const MAX_REPEATED = 5;
const REPEATABLE = ['e2e', 'e2e-alone'];

interface Decision {
  /** Paths of the files to run once more, when nothing else failed. */
  readonly repeat: readonly string[];
  /** Why the tests have failed for good already. */
  readonly failures: readonly string[];
}

/** `run` ended with `exitCode`; 0: none failed. */
export function decide(run: RunReport, exitCode: number): Decision {
  const failed = run.files.filter((file) => file.failed);
  const final = failed.filter(({ project }) => !REPEATABLE.includes(project)).map(({ path }) => `${path} failed`);
  const unhandled = run.unhandled.map((message) => `an error that no test caught: ${message}`);
  const failures = [...final, ...unhandled];
  if (failed.length > MAX_REPEATED) failures.push(`${failed.length} files failed: none is run again`);
  // An exit code that no report explains: a run that was ended, an exception of the runner itself.
  if (exitCode !== 0 && failed.length === 0 && failures.length === 0) {
    failures.push(`the tests ended with ${exitCode}, and no test has failed`);
  }
  if (run.files.length === 0) failures.push('no test was run');
  return { repeat: failures.length === 0 ? failed.map(({ path }) => path) : [], failures };
}

/** A test, or a file whose hook failed, that passed when its file was run again. */
interface Flaky {
  readonly name: string;
  readonly message: string;
}

interface Outcome {
  readonly flaky: readonly Flaky[];
  readonly failures: readonly string[];
}

/** What the second run of the files that `first` had to repeat shows. */
export function compareRuns(first: readonly FileReport[], second: RunReport): Outcome {
  const failures = second.unhandled.map((message) => `an error that no test caught: ${message}`);
  const flaky: Flaky[] = [];
  for (const before of first) {
    const after = second.files.find(({ path }) => path === before.path);
    const passed = new Set(after?.tests.filter(({ state }) => state === 'passed').map(({ name }) => name));
    const failedBefore = before.tests.filter(({ state }) => state === 'failed');
    if (after === undefined || after.failed || failedBefore.some(({ name }) => !passed.has(name))) {
      failures.push(`${before.path} failed again`);
      continue;
    }
    for (const { name, message = '' } of failedBefore) flaky.push({ name: `${before.path} > ${name}`, message });
    for (const message of before.errors) flaky.push({ name: before.path, message });
    if (failedBefore.length + before.errors.length === 0) {
      flaky.push({ name: before.path, message: 'the file did not end' });
    }
  }
  return { flaky, failures };
}

/** `N passed, N failed, N skipped`; of a file that was run again its second run counts. */
export function closingLine(run: RunReport, failures: readonly string[], second?: RunReport): string {
  const again = new Map(second?.files.map((file) => [file.path, file]));
  const files = run.files.map((file) => again.get(file.path) ?? file);
  const tests = files.flatMap((file) => file.tests);
  const count = (...states: readonly string[]) => tests.filter(({ state }) => states.includes(state)).length;
  // A hook, or a file that does not compile, fails without a test that does.
  const without = files.filter((file) => file.failed && !file.tests.some(({ state }) => state === 'failed')).length;
  const failed = count('failed') + without;
  // A failure outside a test is a failure all the same.
  const atLeast = failures.length > 0 ? 1 : 0;
  return `${count('passed')} passed, ${Math.max(failed, atLeast)} failed, ${count('skipped', 'pending')} skipped`;
}
