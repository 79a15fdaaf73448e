/*
 * Goal: every seeded bug is caught by a named step or invariant of an experiment, or a check of `verify`
 * (docs/chaos.md). Method: each runs on a separate platform with the bug in it, and must fail with that reason. `npm
 * run chaos:seeded-bugs [-- BUG...]`; exit code 1 when one was not caught.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import type { VerifyReport } from '../../cli/src/commands/verify/run-verify.ts';
import type { TrialsReport } from '../../cli/src/drills/validate/report.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { isSeededBugName, type SeededBugName, seededBugs } from '../../kit/src/seeded-bug-names.ts';

interface Catch {
  /** An experiment's id, that of a drill's scenario, or `verify`. */
  readonly by: string;
  /** Of the step, invariant or check that is to notice; it begins as the reason does. */
  readonly reason: RegExp;
}

/** What a look at a platform with the bug came to. */
interface Looked {
  readonly isFailed: boolean;
  readonly verdict: string;
  readonly reasons: readonly string[];
}

const catches: Readonly<Record<SeededBugName, Catch>> = {
  'publish-in-request': { by: 'E01', reason: /^"orders without the broker": 5 orders: / },
  'mandatory-unbound': { by: 'E05a', reason: /^"its event counts as published": shop\.outbox\.pending 1,/ },
  'breaker-counts-402': { by: 'E11', reason: /^breaker\.open of orders-payments must never/ },
  // No experiment places declined and accepted orders together.
  'pause-after-402': { by: 'd401', reason: /^symptom: failures .* after the injection/ },
  'retry-declined': { by: 'E11', reason: /^"its trace": 1 of 1 traces otherwise: 34 spans: 4 not as expected/ },
  'no-retries': { by: 'E13', reason: /^"an order": 1 orders: 1 Cancelled: payment unavailable/ },
  'crash-in-recovery': { by: 'E24a', reason: /^process\.exit of orders happened too often: 2 of 1/ },
  'price-in-hryvnias': { by: 'E09', reason: /^I15 .* is violated: .*was ordered for 450 UAH/ },
  // An experiment finds a sum wrong that was wrong before it.
  'duration-in-seconds': { by: 'verify', reason: /^ledger: wrong +shop\.saga\.duration\S* sums up to/ },
  'gauge-always-zero': { by: 'E42', reason: /^"the gauge says one": shop\.outbox\.pending 0,/ },
  // Nothing but a drill switches a flag on.
  'slow-flag': { by: 'd403', reason: /^symptom: latency .* after the injection/ },
  'no-inbox': { by: 'E29', reason: /^I7 .* is violated: / },
  'no-idempotency-key': { by: 'E13', reason: /^I4 .* is violated: / },
  'charged-twice': { by: 'E13', reason: /^I4 .* is violated: .*charged 2 times/ },
  // An experiment finds an order failed that has to be confirmed, whatever is wrong.
  'large-charges-fail': { by: 'd402', reason: /^symptom: failures .* after the injection/ },
  'release-before-reserve-forgotten': { by: 'E15b', reason: /^"no units of cancelled orders": I5 is violated/ },
};

const wanted = process.argv.slice(2);
const all = Object.keys(seededBugs).filter(isSeededBugName);
const unknown = wanted.filter((bug) => !isSeededBugName(bug));
if (unknown.length > 0) {
  process.stderr.write(`no such bug: ${unknown.join(', ')}; there are ${all.join(', ')}\n`);
  process.exit(2);
}
for (const bug of wanted.length === 0 ? all : wanted.filter(isSeededBugName)) await look(bug);

async function look(bug: SeededBugName): Promise<void> {
  const { by, reason } = catches[bug];
  const { isFailed, verdict, reasons } = await lookBy(by, bug);
  const why = reasons.find((one) => reason.test(one));
  const isCaught = isFailed && why !== undefined;
  process.stdout.write(
    `${isCaught ? 'caught' : 'MISSED'}  ${bug} by ${by} (${verdict}): ${why ?? reasons.join('; ')}\n`,
  );
  if (!isCaught) process.exitCode = 1;
}

function lookBy(by: string, bug: SeededBugName): Promise<Looked> {
  if (by === 'verify') return verified(bug);
  return /^d\d/.test(by) ? drilled(by) : experimented(by, bug);
}

/** A scenario that has the bug: it is caught where customers notice it, and the solution cures it. */
async function drilled(scenario: string): Promise<Looked> {
  const { stdout, stderr } = await shopctl('drill', 'validate', scenario, '--reference', '--platforms', '1', '--json');
  if (stdout === '') return { isFailed: false, verdict: 'not played', reasons: [stderr.slice(-400)] };
  const report = JSON.parse(stdout) as TrialsReport;
  const checks = report.scenarios.flatMap(({ trial }) => trial?.checks ?? []);
  const isSeen = checks.some(({ id, verdict }) => id === 'symptom' && verdict === 'pass');
  return { isFailed: isSeen, verdict: report.verdict, reasons: checks.map(({ id, evidence }) => `${id}: ${evidence}`) };
}

async function experimented(experiment: string, bug: SeededBugName): Promise<Looked> {
  const { stdout, stderr } = await shopctl('chaos', 'run', experiment, '--seed-bug', bug, '--fresh', '--json');
  const [run] = stdout === '' ? [] : (JSON.parse(stdout) as RunSummary[]);
  const reasons = run?.reasons ?? [stderr.slice(-400)];
  return { isFailed: run?.verdict === 'fail', verdict: String(run?.verdict), reasons };
}

async function verified(bug: SeededBugName): Promise<Looked> {
  const { stderr: started } = await shopctl('up', '--seed-bug', bug);
  const { stdout } = await shopctl('verify', '--json');
  await shopctl('down', '--volumes');
  if (stdout === '') return { isFailed: false, verdict: 'not started', reasons: [started.slice(-400)] };
  const { verdict, checks } = JSON.parse(stdout) as VerifyReport;
  const failed = checks.filter((check) => check.verdict === 'fail');
  const reasons = failed.flatMap(({ id, evidence, details = '' }) =>
    [evidence, ...details.split('\n')].map((line) => `${id}: ${line.trim()}`),
  );
  return { isFailed: verdict === 'fail', verdict, reasons };
}

async function shopctl(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(join(cloneRoot(), 'cli/bin/shopctl'), [...args, '--project', 'seeded-bugs'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SHOPCTL_FAILPOINTS: '1' },
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { stdout, stderr };
}
