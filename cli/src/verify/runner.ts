import { messageOf } from '../errors.ts';
import type { CheckResult } from '../shared/verdict.ts';
import type { Check, Evidence } from './check.ts';
import { CheckFailed, EvidenceMissing } from './check-errors.ts';
import { confirmed } from './checks/confirmed.ts';
import { correlation } from './checks/correlation.ts';
import { declined } from './checks/declined.ts';
import { health } from './checks/health.ts';
import { ledger } from './checks/ledger.ts';
import { metrics } from './checks/metrics.ts';
import { outbox } from './checks/outbox.ts';
import { privacy } from './checks/privacy.ts';
import { replayed } from './checks/replayed.ts';
import { confirmedTrace, declinedTrace, replayedTrace } from './checks/traces.ts';
import type { VerifyContext } from './context.ts';

/**
 * All checks in the order in which they are printed. Those of one stage run concurrently: they share the orders of the
 * run and wait for different things. The next stage looks back at what the run left behind.
 */
export const stages: readonly (readonly Check[])[] = [
  [
    health,
    confirmed,
    confirmedTrace,
    declined,
    declinedTrace,
    replayed,
    replayedTrace,
    outbox,
    metrics,
    correlation,
    ledger,
  ],
  [privacy],
];

/** Runs all checks; each result is reported when it and those before it are there. Never rejects for a check. */
export async function runChecks(
  context: VerifyContext,
  onResult: (result: CheckResult) => void,
  checks: readonly (readonly Check[])[] = stages,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const stage of checks) {
    for (const running of stage.map((check) => runCheck(check, context))) {
      const result = await running;
      results.push(result);
      onResult(result);
    }
  }
  return results;
}

/** One check with its time. When the run's signal aborts, what has not ended is unknown. */
async function runCheck(check: Check, context: VerifyContext): Promise<CheckResult> {
  const began = performance.now();
  const { id, name } = check;
  const outcome = await outcomeOf(check, context);
  return { id, name, ...outcome, tookMs: Math.round(performance.now() - began) };
}

type Outcome = Omit<CheckResult, 'id' | 'name' | 'tookMs'>;

async function outcomeOf(check: Check, context: VerifyContext): Promise<Outcome> {
  const work = check.run(context).then(hold, explain);
  // A check that waits for something without a limit must not hold the others' results.
  return Promise.race([work, whenAborted(context.signal)]);
}

function hold(seen: string | Evidence): Outcome {
  return { verdict: 'pass', ...(typeof seen === 'string' ? { evidence: seen } : seen) };
}

function explain(error: unknown): Outcome {
  if (error instanceof CheckFailed) {
    const { message, expected, observed, details, contract } = error;
    return {
      verdict: 'fail',
      evidence: message,
      expected,
      observed,
      ...(contract !== undefined && { contract }),
      ...(details !== '' && { details }),
    };
  }
  if (error instanceof EvidenceMissing) {
    return { verdict: 'unknown', evidence: error.message, ...(error.details !== '' && { details: error.details }) };
  }
  if ((error as Error).name === 'AbortError' || (error as Error).name === 'TimeoutError') return outOfTime;
  return { verdict: 'unknown', evidence: messageOf(error) };
}

const outOfTime: Outcome = { verdict: 'unknown', evidence: 'had not ended when the time was over (--timeout)' };

function whenAborted(signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(outOfTime);
    signal.addEventListener('abort', () => resolve(outOfTime), { once: true });
  });
}
