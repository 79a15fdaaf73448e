import type { RunClock } from '../../shared/clock.ts';
import { worst } from '../../shared/verdict.ts';
import type { StepResult } from './step-result.ts';

export interface PollTiming {
  /** Tried until it holds, at most this long, ms. Undefined: one attempt. */
  readonly within: number | undefined;
  /** Must go on to hold all this time, ms. Undefined: one success is enough. */
  readonly for: number | undefined;
}

export interface Repeated extends StepResult {
  readonly attempts: number;
}

const EVERY_MS = 250;

/**
 * Probes as often as the timing asks. `within`: until it holds, and the last attempt counts. `for`: from its first success on
 * every attempt must hold; the worst counts. An unknown result in that time is not a success: nothing showed that it held.
 */
export async function pollProbe(
  look: () => Promise<StepResult>,
  timing: PollTiming,
  clock: RunClock,
  signal: AbortSignal,
): Promise<Repeated> {
  const began = clock.now();
  let attempts = 1;
  let last = await look();
  while (last.verdict !== 'pass' && clock.now() - began < (timing.within ?? 0)) {
    await clock.sleep(EVERY_MS, signal);
    last = await look();
    attempts++;
  }
  if (last.verdict !== 'pass' || timing.for === undefined) return { ...last, attempts };
  const heldSince = clock.now();
  while (clock.now() - heldSince < timing.for) {
    await clock.sleep(EVERY_MS, signal);
    const next = await look();
    attempts++;
    if (worst([next.verdict]) !== 'pass') {
      const heldMs = Math.round(clock.now() - heldSince);
      return { ...next, attempts, observed: `${next.observed ?? next.verdict}, after it had held for ${heldMs} ms` };
    }
    last = next;
  }
  return { ...last, attempts, observed: `${last.observed ?? ''} (held for ${timing.for} ms)`.trim() };
}
