import { Type } from 'typebox';
import { canary, describeCanary } from '../canary.ts';
import { type EdgeRecord, recordEdge, takeBack, verifyEdge } from '../edge.ts';
import { defineFault } from '../fault.ts';
import { judged } from './toxic-fault.ts';

const REFUSAL_LIMIT_MS = 500;

/** The proxy is disabled: connections are refused at once, those it held are closed. */
export const down = defineFault({
  name: 'down',
  kind: 'proxy',
  scope: 'edge',
  title: 'connections are refused, and open ones are closed',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  prepare: ({ target }, world) => recordEdge(target, world),
  inject: (_, { apiUrl, proxy }: EdgeRecord, world) => world.toxiproxy(apiUrl).setEnabled(proxy, false),
  async witness(_, { listen, protocol }: EdgeRecord) {
    const result = await canary(listen, protocol, { limitMs: REFUSAL_LIMIT_MS });
    return judged(result.ended === 'refused', `a canary was ${describeCanary(result)}`);
  },
  isInPlace: async ({ apiUrl, proxy }: EdgeRecord, world) => !(await world.toxiproxy(apiUrl).proxy(proxy)).enabled,
  undo: (edge: EdgeRecord, world) =>
    takeBack(edge, world, () => world.toxiproxy(edge.apiUrl).setEnabled(edge.proxy, true)),
  verify: (edge: EdgeRecord, world) =>
    verifyEdge(edge, world, async () => (await world.toxiproxy(edge.apiUrl).proxy(edge.proxy)).enabled),
});
