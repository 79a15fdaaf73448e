import { Type } from 'typebox';
import { describeCanary } from '../canary.ts';
import { judged, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;
const BULK_REQUESTS = 20;

/** Cuts data into small pieces with pauses between. */
export const slicer = toxicFault({
  type: 'slicer',
  title: 'data arrives in small pieces with pauses between',
  parameters: Type.Object({
    averageSize: Type.Integer({ minimum: 1, maximum: 65_536, description: 'size of a piece, in bytes' }),
    sizeVariation: Type.Optional(Type.Integer({ minimum: 0, description: 'the size varies by this much, in bytes' })),
    delay: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'pause between pieces', unit: 'ms' }),
    ),
  }),
  attributes: ({ averageSize, sizeVariation = 0, delay = 0 }) => ({
    average_size: averageSize,
    size_variation: sizeVariation,
    // The server counts this one in microseconds.
    delay: delay * 1000,
  }),
  async witness(probe, { averageSize, delay = 0 }) {
    const result = await probe.send({ limitMs: LONGEST_LOOK_MS, conversation: 'bulk', bulkRequests: BULK_REQUESTS });
    const bytes = probe.stream === 'upstream' ? result.sentBytes : result.bytes;
    if (bytes < 3 * averageSize || delay === 0) {
      if (result.ended !== 'silent') {
        return { verdict: 'unmeasurable', evidence: `a canary's ${bytes} bytes are too few to be cut visibly` };
      }
    }
    // The pauses between pieces, at the least.
    const expectedMs = Math.max(1, Math.floor(bytes / (averageSize * 2)) - 1) * delay;
    return judged(
      result.ended === 'silent' || result.tookMs >= expectedMs,
      `a canary's ${bytes} bytes came in ${result.pieces} pieces, ${describeCanary(result)}`,
    );
  },
});
