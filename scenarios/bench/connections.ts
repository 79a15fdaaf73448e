/** How the clients of `npm run bench:restarts` connect. No import of k6 here. */

export const connectionChoices = ['keep', 'new', 'mixed'] as const;
export type Connections = (typeof connectionChoices)[number];
/** A `kept` connection serves many requests, a `new` one serves one. */
export const connectionKinds = ['kept', 'new'] as const;
export type Connection = (typeof connectionKinds)[number];

/** Orders a second by kind of connection; of an odd number one more are on kept ones. A kind without any is absent. */
export function ratesByConnection(
  rate: number,
  connections: Connections,
): readonly (readonly [connection: Connection, rate: number])[] {
  const onKept = { keep: rate, new: 0, mixed: Math.ceil(rate / 2) }[connections];
  const all = [['kept', onKept] as const, ['new', rate - onKept] as const];
  return all.filter(([, ofKind]) => ofKind > 0);
}
