import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;

/** A true RST for connections opened from now on; those open already end with FIN (they were made without linger). */
export const resetPeer = toxicFault({
  type: 'reset_peer',
  title: 'connections are reset after the stated time (0: at their first byte)',
  parameters: toxicAttributes.reset_peer,
  defaults: { parameters: { timeout: 0 } },
  presets: [{ timeout: 0 }],
  attributes: (parameters) => parameters,
  async witness(probe, { timeout }) {
    const result = await probe.send({ limitMs: Math.min(timeout + 1_000, LONGEST_LOOK_MS), conversation: 'close' });
    if (result.ended === 'silent' && timeout >= LONGEST_LOOK_MS) {
      return { verdict: 'unmeasurable', evidence: 'the reset comes later than a canary waits' };
    }
    return toWitness(result.ended === 'reset', `a canary was ${describeCanary(result)}`);
  },
});
