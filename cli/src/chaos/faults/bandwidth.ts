import { toxicAttributes } from '../toxics.ts';
import { toWitness, toxicFault } from './toxic-fault.ts';

/** Shortest transfer whose rate can be distinguished from the machine's own speed, ms. */
const MEASURABLE_MS = 30;
/** The smallest exchange of HTTP/2 has 8.5 KB, which take as many seconds at 1 KB/s. */
const LONGEST_LOOK_MS = 12_000;

/** Limits throughput; all streams of an HTTP/2 connection share it. */
export const bandwidth = toxicFault({
  type: 'bandwidth',
  title: 'data flows at no more than this rate',
  parameters: toxicAttributes.bandwidth,
  defaults: { parameters: { rate: 1 } },
  presets: [{ rate: 1 }, { rate: 50 }],
  attributes: (parameters) => parameters,
  async witness(probe, { rate }) {
    // As many bytes as pass in about a third of a second: what a toxic holds back when it is removed delays its removal.
    const bulkRequests = Math.min(200, Math.max(1, Math.round(rate * 2)));
    const result = await probe.send({ limitMs: LONGEST_LOOK_MS, conversation: 'bulk', bulkRequests });
    const { tookMs } = result;
    const bytes = probe.stream === 'upstream' ? result.sentBytes : result.bytes;
    // The server counts a KB as 1000 bytes: one byte per ms for each unit of the rate.
    const expectedMs = bytes / rate;
    if (expectedMs < MEASURABLE_MS && result.ended !== 'silent') {
      return {
        verdict: 'unmeasurable',
        evidence: `a canary's ${bytes} bytes pass in ${expectedMs.toFixed(1)} ms at this rate`,
      };
    }
    const perSecond = Math.round(bytes / tookMs);
    // At any rate a part of the response arrives; an edge that is silent has another fault.
    const flows = probe.stream === 'upstream' || result.bytes > 0;
    return toWitness(
      flows && tookMs >= expectedMs * 0.8,
      `a canary's ${bytes} bytes took ${Math.round(tookMs)} ms (${perSecond} KB/s)`,
    );
  },
});
