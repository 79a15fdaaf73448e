import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;

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
    const result = await probe.send({ limitMs: Math.min(delay + 1_000, LONGEST_LOOK_MS), conversation: 'close' });
    const heldMs = result.closeMs ?? result.tookMs;
    const isHeld = result.ended === 'silent' || heldMs >= delay - 1;
    return toWitness(
      isHeld,
      `a canary's connection was ${describeCanary(result)}, ${Math.round(heldMs)} ms after its last byte`,
    );
  },
});
