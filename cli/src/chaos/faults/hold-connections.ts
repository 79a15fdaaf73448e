import { Type } from 'typebox';
import { messageOf } from '../../errors.ts';
import { countSessions, databaseOf, endSessions, type SessionRecord, verifyNoSessions } from '../database-faults.ts';
import { defineFault } from '../fault.ts';

const parameters = Type.Object(
  {
    connections: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'how many at the most; it ends earlier when the server refuses more',
    }),
  },
  { additionalProperties: false },
);

/** Connections that are opened at once. */
const AT_ONCE = 20;

/** Takes connections away from everybody: the server has a fixed number of them. */
export const holdConnections = defineFault<typeof parameters, SessionRecord>({
  name: 'hold-connections',
  kind: 'database',
  scope: 'database',
  title: "connections are opened as the service's role and held, up to the server's limit",
  parameters,
  prepare: async ({ id, target }) => ({ id, database: databaseOf(target) }),
  async inject({ id, parameters: { connections } }, { database }, world) {
    const url = await world.serviceDatabaseUrl(database);
    // Side by side: opened one after another, hundreds would not be there within the limit of an injection.
    for (let held = 0; held < connections; held += AT_ONCE) {
      const opening = Array.from({ length: Math.min(AT_ONCE, connections - held) }, () => world.sessions.open(id, url));
      const refused = (await Promise.allSettled(opening)).filter((one) => one.status === 'rejected');
      // 53300 too_many_connections: this is what was wanted.
      if (refused.some(({ reason }) => (reason as { code?: unknown }).code === '53300')) return;
      const [first] = refused;
      if (first !== undefined) {
        throw new Error(`after ${held} connections: ${messageOf(first.reason)}`, { cause: first.reason });
      }
    }
  },
  async witness({ parameters: { connections } }, { id, database }, world) {
    const held = await countSessions(id, database, world);
    const refusal = await world.sessions.open(id, await world.serviceDatabaseUrl(database)).then(
      () => undefined,
      (error: { code?: unknown }) => error.code,
    );
    const isFull = refusal === '53300';
    return {
      verdict: held >= connections || isFull ? 'seen' : 'absent',
      evidence: `PostgreSQL holds ${held} connections of it and ${isFull ? 'refuses the next (53300)' : 'takes more'}`,
    };
  },
  undo: endSessions,
  verify: verifyNoSessions,
});
