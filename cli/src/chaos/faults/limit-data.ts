import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;

/** Closes a connection (FIN) once so many bytes have passed since the toxic was added. */
export const limitData = toxicFault({
  type: 'limit_data',
  title: 'connections are closed once so many bytes have passed',
  parameters: toxicAttributes.limit_data,
  defaults: { parameters: { bytes: 1 } },
  presets: [{ bytes: 1_000 }],
  attributes: (parameters) => parameters,
  async witness(probe, { bytes }) {
    const result = await probe.send({ limitMs: LONGEST_LOOK_MS, conversation: 'bulk' });
    const isCut = result.ended === 'closed' || result.ended === 'reset';
    if (probe.stream === 'upstream') {
      if (result.sentBytes <= bytes)
        return { verdict: 'unmeasurable', evidence: `a canary sends only ${result.sentBytes} bytes` };
      // Only the data that passed gets a response.
      return toWitness(isCut && result.bytes < result.sentBytes / 2, `a canary was ${describeCanary(result)}`);
    }
    if (isCut && result.bytes < bytes) {
      return { verdict: 'unmeasurable', evidence: `a canary's whole response has only ${result.bytes} bytes` };
    }
    return toWitness(isCut && result.bytes === bytes, `a canary was ${describeCanary(result)}`);
  },
});
