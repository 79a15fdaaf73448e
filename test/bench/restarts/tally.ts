import { type Connection, connectionKinds } from '../../../scenarios/bench/connections.ts';

export const clients = ['k6', 'own'] as const;
export type Client = (typeof clients)[number];

/** One request, as it is counted. */
export interface Counted {
  readonly client: Client;
  readonly connection: Connection;
  readonly what: 'order' | 'read';
  readonly tookMs: number;
  /** Why it failed; undefined when it was served. */
  readonly failure: string | undefined;
}

/** How many requests of the same client, connection and kind failed for the same reason. */
export interface Failures extends Pick<Counted, 'client' | 'connection' | 'what'> {
  readonly failure: string;
  readonly count: number;
}

export interface Tally {
  readonly requests: number;
  readonly by: Readonly<Record<Client, Readonly<Record<Connection, number>>>>;
  readonly failed: number;
  /** The most frequent first. */
  readonly failures: readonly Failures[];
  /** Of all requests that were served, ms; undefined: none was. */
  readonly servedMs?: { readonly p99: number; readonly max: number };
}

export function tallyOf(all: readonly Counted[]): Tally {
  const count = (client: Client, connection: Connection) =>
    all.filter((one) => one.client === client && one.connection === connection).length;
  const failed = all.filter((one): one is Counted & { failure: string } => one.failure !== undefined);
  const groups = Map.groupBy(failed, ({ client, connection, what, failure }) =>
    JSON.stringify({ client, connection, what, failure }),
  );
  const served = all
    .filter(({ failure }) => failure === undefined)
    .map(({ tookMs }) => tookMs)
    .toSorted((a, b) => a - b);
  const max = served.at(-1);
  return {
    requests: all.length,
    by: Object.fromEntries(
      clients.map((client) => [
        client,
        Object.fromEntries(connectionKinds.map((connection) => [connection, count(client, connection)])),
      ]),
    ) as Tally['by'],
    failed: failed.length,
    failures: [...groups]
      .map(([group, members]): Failures => ({ ...JSON.parse(group), count: members.length }))
      .toSorted((a, b) => b.count - a.count),
    ...(max !== undefined && { servedMs: { p99: served[Math.floor(served.length * 0.99)] as number, max } }),
  };
}
