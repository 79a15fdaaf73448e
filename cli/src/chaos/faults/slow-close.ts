import { type CanaryResult, describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { type EdgeProbe, toWitness, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;
const MAX_LOOKS = 3;

/** A close by the called side reaches the caller late. */
export const slowClose = toxicFault({
  type: 'slow_close',
  title: 'the end of a connection is passed on late',
  parameters: toxicAttributes.slow_close,
  defaults: { parameters: { delay: 2_000 } },
  presets: [{ delay: 2_000 }],
  attributes: (parameters) => parameters,
  async witness(probe, { delay }) {
    if (probe.stream === 'upstream') {
      return {
        verdict: 'unmeasurable',
        evidence: 'the close reaches the called side late, which the caller cannot observe',
      };
    }
    let look = await probeClose(probe, delay);
    for (let looks = 1; looks < MAX_LOOKS && look.isHeld === 'unclear'; looks++) look = await probeClose(probe, delay);
    const { isHeld, result } = look;
    const heldMs = Math.round(result.closeMs ?? result.tookMs);
    return toWitness(
      isHeld === true,
      `a canary's connection was ${describeCanary(result)}, ${heldMs} ms after its last byte`,
    );
  },
});

/**
 * Toxiproxy holds the close back for `delay` from when the called side has closed. A connection that ends earlier than
 * that after its request was not held. On a busy machine its last byte may be read late, and then little of the delay
 * is left. Where less than half is left, nothing distinguishes that from a late response without the fault.
 */
async function probeClose(
  probe: EdgeProbe,
  delay: number,
): Promise<{ readonly isHeld: boolean | 'unclear'; readonly result: CanaryResult }> {
  const result = await probe.send({ limitMs: Math.min(delay + 1_000, LONGEST_LOOK_MS), conversation: 'close' });
  if (result.ended === 'silent') return { isHeld: true, result };
  if (result.tookMs < delay - 1) return { isHeld: false, result };
  return { isHeld: (result.closeMs ?? result.tookMs) >= delay / 2 || 'unclear', result };
}
