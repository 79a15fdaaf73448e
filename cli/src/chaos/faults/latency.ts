import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { judged, toxicFault } from './toxic-fault.ts';

/** A long delay is believed after so much of it, ms. */
const LONGEST_LOOK_MS = 3_000;

/** Delays data, never the connection itself: a connect still succeeds at once. */
export const latency = toxicFault({
  type: 'latency',
  title: 'each piece of data is delayed',
  parameters: toxicAttributes.latency,
  attributes: (parameters) => parameters,
  async witness(probe, { latency, jitter = 0 }) {
    const least = Math.max(0, latency - jitter);
    if (latency + jitter < 2) return { verdict: 'unmeasurable', evidence: 'the delay is below what can be measured' };
    const result = await probe.send({ limitMs: Math.min(latency + jitter + 1_000, LONGEST_LOOK_MS) });
    const waitedMs = result.firstByteMs ?? result.tookMs;
    // Timers may fire a millisecond early.
    const isLate =
      result.ended === 'answered' || result.ended === 'silent'
        ? waitedMs >= Math.min(least, LONGEST_LOOK_MS) - 1
        : false;
    return judged(isLate, `a canary was ${describeCanary(result)} (before: ${describeCanary(probe.before)})`);
  },
});
