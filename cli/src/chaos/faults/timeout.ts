import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

/** Silence for so long is a black hole, ms. */
const SILENCE_MS = 500;

/**
 * Swallows data. With a time it closes a connection that was silent for so long. With 0 it never does, and its revert
 * closes every live connection, which is a second fault for pools.
 */
export const timeout = toxicFault({
  type: 'timeout',
  title: 'data disappears; connections are closed after the stated silence (0: never)',
  parameters: toxicAttributes.timeout,
  defaults: { parameters: { timeout: 0 } },
  presets: [{ timeout: 0 }, { timeout: 1_000 }],
  attributes: (parameters) => parameters,
  async witness(probe, { timeout }) {
    const closesWithin = timeout > 0 && timeout <= SILENCE_MS;
    const result = await probe.send({ limitMs: closesWithin ? timeout + SILENCE_MS : SILENCE_MS });
    const isObserved = result.bytes === 0 && (closesWithin ? result.ended === 'closed' : result.ended === 'silent');
    return toWitness(isObserved, `a canary was ${describeCanary(result)}`);
  },
});
