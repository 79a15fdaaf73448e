import { Type } from 'typebox';
import { canary, describeCanary } from '../canary.ts';
import { type EdgeRecord, recordEdge, revertOnEdge, verifyEdge } from '../edge.ts';
import { defineFault } from '../fault.ts';
import { streams } from '../toxics.ts';
import { toWitness } from './toxic-fault.ts';

/** Silence for so long is a black hole, ms. */
const SILENCE_MS = 500;

interface Partition {
  readonly edge: EdgeRecord;
  /** One toxic each way. */
  readonly toxics: readonly string[];
}

/** A `timeout` of 0 both ways: no data, not even the end of a connection. Reverting it closes every open connection. */
export const partition = defineFault<ReturnType<typeof Type.Object>, Partition>({
  name: 'partition',
  kind: 'toxic',
  scope: 'edge',
  title: 'data disappears both ways; connections stay open and silent',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  async prepare({ id, target }, platform) {
    return { edge: await recordEdge(target, platform), toxics: streams.map((stream) => `partition_${stream}_${id}`) };
  },
  async inject(_, { edge, toxics }, platform) {
    for (const [index, stream] of streams.entries()) {
      const name = toxics[index] as string;
      await platform
        .toxiproxy(edge.apiUrl)
        .addToxic(edge.proxy, { type: 'timeout', name, stream, toxicity: 1, attributes: { timeout: 0 } });
    }
  },
  async witness(_, { edge }) {
    if (edge.before.ended !== 'responded') {
      return { verdict: 'unmeasurable', evidence: `${edge.proxy} did not serve before the fault either` };
    }
    const result = await canary(edge.listen, edge.protocol, { limitMs: SILENCE_MS });
    return toWitness(result.bytes === 0 && result.ended === 'silent', `a canary was ${describeCanary(result)}`);
  },
  async isInPlace({ edge, toxics }, platform) {
    const { toxics: there } = await platform.toxiproxy(edge.apiUrl).proxy(edge.proxy);
    return toxics.every((toxic) => there.some(({ name }) => name === toxic));
  },
  undo: ({ edge, toxics }, platform) =>
    revertOnEdge(edge, platform, async () => {
      for (const name of toxics) await platform.toxiproxy(edge.apiUrl).removeToxic(edge.proxy, name);
    }),
  verify: ({ edge, toxics }, platform) =>
    verifyEdge(edge, platform, async () => {
      const { toxics: left } = await platform.toxiproxy(edge.apiUrl).proxy(edge.proxy);
      return left.every(({ name }) => !toxics.includes(name));
    }),
});
