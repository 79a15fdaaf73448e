import { Type } from 'typebox';
import { canary, describeCanary } from '../canary.ts';
import { type EdgeRecord, recordEdge, takeBack, verifyEdge } from '../edge.ts';
import { defineFault } from '../fault.ts';
import { streams } from '../toxics.ts';
import { judged } from './toxic-fault.ts';

/** Silence for so long is a black hole, ms. */
const SILENCE_MS = 500;

interface Partition {
  readonly edge: EdgeRecord;
  /** One toxic each way. */
  readonly toxics: readonly string[];
}

/** A `timeout` of 0 both ways: no word, not even that a connection has ended. Taking it back closes every live connection. */
export const partition = defineFault<ReturnType<typeof Type.Object>, Partition>({
  name: 'partition',
  kind: 'toxic',
  scope: 'edge',
  title: 'data disappears both ways; connections stay open, and nothing is heard on them',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  async prepare({ id, target }, world) {
    return { edge: await recordEdge(target, world), toxics: streams.map((stream) => `partition_${stream}_${id}`) };
  },
  async inject(_, { edge, toxics }, world) {
    for (const [index, stream] of streams.entries()) {
      const name = toxics[index] as string;
      await world
        .toxiproxy(edge.apiUrl)
        .addToxic(edge.proxy, { type: 'timeout', name, stream, toxicity: 1, attributes: { timeout: 0 } });
    }
  },
  async witness(_, { edge }) {
    if (edge.before.ended !== 'answered') {
      return { verdict: 'unmeasurable', evidence: `${edge.proxy} did not serve before the fault either` };
    }
    const result = await canary(edge.listen, edge.protocol, { limitMs: SILENCE_MS });
    return judged(result.bytes === 0 && result.ended === 'silent', `a canary was ${describeCanary(result)}`);
  },
  async isInPlace({ edge, toxics }, world) {
    const { toxics: there } = await world.toxiproxy(edge.apiUrl).proxy(edge.proxy);
    return toxics.every((toxic) => there.some(({ name }) => name === toxic));
  },
  undo: ({ edge, toxics }, world) =>
    takeBack(edge, world, async () => {
      for (const name of toxics) await world.toxiproxy(edge.apiUrl).removeToxic(edge.proxy, name);
    }),
  verify: ({ edge, toxics }, world) =>
    verifyEdge(edge, world, async () => {
      const { toxics: left } = await world.toxiproxy(edge.apiUrl).proxy(edge.proxy);
      return left.every(({ name }) => !toxics.includes(name));
    }),
});
