/**
 * Checks all tests by the reports that `TEST_REPORTS=FOLDER npm run test:all` has written, and runs end-to-end files that
 * failed once more (decision 0064). Usage: node test/ci/check-run.ts FOLDER EXIT-CODE [--strict]; with --strict a test that
 * passes only the second time fails. The last line counts tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunReport } from './run-report.ts';
import { closingLine, compareRuns, decide } from './second-run.ts';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { strict: { type: 'boolean' } } });
const [folder, exitCode] = positionals;
if (folder === undefined || !/^\d+$/.test(exitCode ?? '')) {
  console.error('usage: node test/ci/check-run.ts FOLDER EXIT-CODE [--strict]');
  process.exit(2);
}

const nothing: RunReport = { files: [], unhandled: [] };

const fileOf = (name: string) => join(folder, `${name}.json`);

function read(name: string): RunReport | undefined {
  const file = fileOf(name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunReport) : undefined;
}

/** The files, one after the other, on a machine that does nothing else. */
async function repeat(files: readonly string[]): Promise<RunReport | undefined> {
  const env = { ...process.env, TEST_REPORT: fileOf('again'), TEST_TIER: 'again' };
  const args = ['run', '--no-file-parallelism', ...files];
  await once(spawn('vitest', args, { env, stdio: 'inherit' }), 'exit');
  return read('again');
}

/** The parts of scripts/bootstrap.mjs. */
const parts = ['most', 'alone', 'background'].map((name) => ({ name, report: read(name) }));
const run: RunReport = {
  files: parts.flatMap(({ report }) => report?.files ?? []),
  unhandled: parts.flatMap(({ report }) => report?.unhandled ?? []),
};
const decision = decide(run, Number(exitCode));
const missing = parts.filter(({ report }) => report === undefined);
const failures = [...decision.failures, ...missing.map(({ name }) => `the part "${name}" has written no report`)];
let second: RunReport | undefined;
if (failures.length === 0 && decision.repeat.length > 0) {
  console.log(`\n== second run, alone: ${decision.repeat.join(' ')}`);
  second = await repeat(decision.repeat);
  const first = run.files.filter(({ path }) => decision.repeat.includes(path));
  const outcome = compareRuns(first, second ?? nothing);
  for (const { name, message } of outcome.flaky) {
    console.log(`ci: passed on the second run: ${name} (first failure: ${message})`);
  }
  console.log(`flaky: ${outcome.flaky.length}`);
  failures.push(...outcome.failures);
  if (values.strict && outcome.flaky.length > 0) failures.push('a test that passes only the second time fails here');
} else {
  console.log('flaky: 0');
}
for (const failure of failures) console.log(`ci: failed: ${failure}`);
console.log(closingLine(run, failures, second));
process.exitCode = failures.length === 0 ? 0 : 1;
