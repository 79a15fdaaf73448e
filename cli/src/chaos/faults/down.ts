import { Type } from 'typebox';
import { canary, describeCanary } from '../canary.ts';
import { type EdgeRecord, recordEdge, revertOnEdge, verifyEdge } from '../edge.ts';
import { defineFault } from '../fault.ts';
import { toWitness } from './toxic-fault.ts';

const REFUSAL_LIMIT_MS = 500;

/** The proxy is disabled: new connections are refused, open ones are closed. */
export const down = defineFault({
  name: 'down',
  kind: 'proxy',
  scope: 'edge',
  title: 'connections are refused, and open ones are closed',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  prepare: ({ target }, platform) => recordEdge(target, platform),
  inject: (_, { apiUrl, proxy }: EdgeRecord, platform) => platform.toxiproxy(apiUrl).setEnabled(proxy, false),
  async witness(_, { listen, protocol }: EdgeRecord) {
    const result = await canary(listen, protocol, { limitMs: REFUSAL_LIMIT_MS });
    return toWitness(result.ended === 'refused', `a canary was ${describeCanary(result)}`);
  },
  isInPlace: async ({ apiUrl, proxy }: EdgeRecord, platform) =>
    !(await platform.toxiproxy(apiUrl).proxy(proxy)).enabled,
  undo: (edge: EdgeRecord, platform) =>
    revertOnEdge(edge, platform, () => platform.toxiproxy(edge.apiUrl).setEnabled(edge.proxy, true)),
  verify: (edge: EdgeRecord, platform) =>
    verifyEdge(edge, platform, async () => (await platform.toxiproxy(edge.apiUrl).proxy(edge.proxy)).enabled),
});
