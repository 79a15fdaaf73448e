import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { judged, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;

/** The called side's end of a connection reaches the caller late. */
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
        evidence: "the caller's end reaches the called side late, which a caller cannot see",
      };
    }
    const result = await probe.send({ limitMs: Math.min(delay + 1_000, LONGEST_LOOK_MS), conversation: 'close' });
    const heldMs = result.closeMs ?? result.tookMs;
    const isHeld = result.ended === 'silent' || heldMs >= delay - 1;
    return judged(
      isHeld,
      `a canary's connection was ${describeCanary(result)}, ${Math.round(heldMs)} ms after its last byte`,
    );
  },
});
