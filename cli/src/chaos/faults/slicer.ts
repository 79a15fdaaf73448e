import { Type } from 'typebox';
import { describeCanary } from '../canary.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 3_000;
const SHORT_LOOK_MS = 400;
/** Pieces whose pauses a look lasts for. */
const SOME = 4;
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
  defaults: { parameters: { averageSize: 16, delay: 20 } },
  presets: [{ averageSize: 64, delay: 10 }],
  attributes: ({ averageSize, sizeVariation = 0, delay = 0 }) => ({
    average_size: averageSize,
    size_variation: sizeVariation,
    // The server counts this one in microseconds.
    delay: delay * 1000,
  }),
  async witness(probe, { averageSize, sizeVariation = 0, delay = 0 }) {
    const isUpstream = probe.stream === 'upstream';
    // An order may be held until the fault is observed, so the witness waits for some pieces, not for all. The arrival of
    // sent pieces cannot be observed: there the time is the evidence.
    const limitMs = isUpstream ? LONGEST_LOOK_MS : Math.min(LONGEST_LOOK_MS, Math.max(SHORT_LOOK_MS, SOME * delay));
    const result = await probe.send({ limitMs, conversation: 'bulk', bulkRequests: BULK_REQUESTS });
    const bytes = isUpstream ? result.sentBytes : result.bytes;
    const evidence = `a canary's ${bytes} bytes came in ${result.pieces} pieces, ${describeCanary(result)}`;
    if (result.ended === 'silent') {
      const arrived = result.pieces >= Math.min(SOME - 1, Math.floor(limitMs / delay));
      const areSmall = bytes <= 2 * result.pieces * (averageSize + sizeVariation);
      // The arrival of sent pieces cannot be observed: only that they would take longer than the look.
      const wouldTakeMs = Math.floor(bytes / (averageSize + sizeVariation)) * delay;
      return toWitness(isUpstream ? wouldTakeMs >= limitMs : arrived && areSmall, evidence);
    }
    if (bytes < 3 * averageSize || delay === 0) {
      return { verdict: 'unmeasurable', evidence: `a canary's ${bytes} bytes are too few to be cut visibly` };
    }
    // The pauses between pieces, at the least.
    const expectedMs = Math.max(1, Math.floor(bytes / (averageSize * 2)) - 1) * delay;
    return toWitness(result.tookMs >= expectedMs, evidence);
  },
});
