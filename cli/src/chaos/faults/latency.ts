import { describeCanary } from '../canary.ts';
import type { Witness } from '../fault.ts';
import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

/** A longer delay is not waited for to its end, ms: this exceeds every time limit of a call in the shop. */
const LONGEST_LOOK_MS = 6_000;
/** A delay that may be none at all is looked for so often and so long (ms): half of the canaries wait for `latency`. */
const LOOKS = 10;
const LOOK_MS = 4_000;

/** Delays data, never the connection itself: a connect still succeeds immediately. */
export const latency = toxicFault({
  type: 'latency',
  title: 'each piece of data is delayed',
  parameters: toxicAttributes.latency,
  // Longer than the longest attempt of a call (payments, 2 s).
  defaults: { parameters: { latency: 2_500 } },
  presets: [{ latency: 200 }, { latency: 1_000 }, { latency: 5_000 }],
  attributes: (parameters) => parameters,
  async witness(probe, { latency, jitter = 0 }) {
    if (latency + jitter < 2) return { verdict: 'unmeasurable', evidence: 'the delay is below what can be measured' };
    const isNeverNone = jitter < latency;
    const least = Math.min(isNeverNone ? latency - jitter : latency, LONGEST_LOOK_MS);
    const ownMs = probe.before.firstByteMs ?? 0;
    const limitMs = Math.min(latency + jitter + 1_000, LONGEST_LOOK_MS + ownMs);
    const deadline = performance.now() + LOOK_MS;
    let witness: Witness;
    let looks = 0;
    do {
      const result = await probe.send({ limitMs });
      const waitedMs = result.firstByteMs ?? result.tookMs;
      // The edge's own latency is not the delay. Timers may fire a millisecond early.
      const isLate =
        (result.ended === 'responded' || result.ended === 'silent') &&
        waitedMs >= Math.max(least - 1, ownMs + least / 2);
      witness = toWitness(isLate, `a canary was ${describeCanary(result)} (before: ${describeCanary(probe.before)})`);
      looks++;
    } while (witness.verdict === 'not_observed' && !isNeverNone && looks < LOOKS && performance.now() < deadline);
    return witness;
  },
});
