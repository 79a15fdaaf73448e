import { describeCanary } from '../canary.ts';
import { toxicAttributes } from '../toxics.ts';
import { judged, toxicFault } from './toxic-fault.ts';

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
      // What was let through is answered, the rest is not.
      return judged(isCut && result.bytes < result.sentBytes / 2, `a canary was ${describeCanary(result)}`);
    }
    if (isCut && result.bytes < bytes) {
      return { verdict: 'unmeasurable', evidence: `a canary's whole answer has only ${result.bytes} bytes` };
    }
    return judged(isCut && result.bytes === bytes, `a canary was ${describeCanary(result)}`);
  },
});
