import { setTimeout as delay } from 'node:timers/promises';
import { Type } from 'typebox';
import { messageOf } from '../../errors.ts';
import { countSessions, databaseOf, endSessions, type SessionRecord, verifyNoSessions } from '../database-faults.ts';
import { sessionName } from '../database-sessions.ts';
import { defineFault } from '../fault.ts';

const parameters = Type.Object(
  {
    connections: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'maximum number; fewer when the server refuses more',
    }),
  },
  { additionalProperties: false },
);

/** Connections that are opened concurrently. */
const CONCURRENCY = 20;
/** A place may be taken for a moment only: by an attempt that was refused, or by a connection that ends. */
const REFUSALS_IN_A_ROW = 3;
const BETWEEN_REFUSALS_MS = 100;

interface Held extends SessionRecord {
  /** How many were opened; set when they were. */
  held?: number;
}

/** Exhausts the connections of the server, which has a fixed number of them. */
export const holdConnections = defineFault<typeof parameters, Held>({
  name: 'hold-connections',
  kind: 'database',
  scope: 'database',
  title: "connections are opened as the service's role and held, up to the server's limit",
  parameters,
  defaults: { parameters: { connections: 1_000 } },
  presets: [{ connections: 100 }],
  prepare: async ({ id, target, hidden }) => ({
    id,
    database: databaseOf(target),
    application: sessionName({ id, hidden }),
  }),
  async inject({ id, parameters: { connections } }, undo, platform) {
    const { database, application } = undo;
    const url = await platform.serviceDatabaseUrl(database);
    // Side by side: opened one after another, hundreds would not be there within the limit of an injection. At the end one
    // by one, because attempts that are about to be refused take places as well.
    let concurrency = CONCURRENCY;
    let refusals = 0;
    for (let held = 0; held < connections; ) {
      const opening = Array.from({ length: Math.min(concurrency, connections - held) }, () =>
        platform.sessions.open(id, url, application),
      );
      const outcomes = await Promise.allSettled(opening);
      const refused = outcomes.filter((one) => one.status === 'rejected');
      held += outcomes.length - refused.length;
      undo.held = held;
      // 53300 too_many_connections is the intended effect.
      const other = refused.find(({ reason }) => (reason as { code?: unknown }).code !== '53300');
      if (other !== undefined) {
        throw new Error(`after ${held} connections: ${messageOf(other.reason)}`, { cause: other.reason });
      }
      if (refused.length === 0) {
        refusals = 0;
        continue;
      }
      if (concurrency === 1 && ++refusals === REFUSALS_IN_A_ROW) return;
      concurrency = 1;
      await delay(BETWEEN_REFUSALS_MS);
    }
  },
  async witness({ parameters: { connections } }, { id, database, application }, platform) {
    const held = await countSessions({ database, application }, platform);
    const probe = `${id}-probe`;
    const refusal = await platform.sessions
      .open(probe, await platform.serviceDatabaseUrl(database), `${application}-probe`)
      .then(
        () => undefined,
        (error: { code?: unknown }) => error.code,
      );
    // One that was taken is not of the fault: what the fault holds may have been ended on purpose.
    await platform.sessions.close(probe);
    const isFull = refusal === '53300';
    return {
      verdict: held >= connections || isFull ? 'observed' : 'not_observed',
      evidence: `PostgreSQL holds ${held} connections of it and ${isFull ? 'refuses the next (53300)' : 'takes more'}`,
    };
  },
  isInPlace: async ({ held = 1, ...record }, platform) => (await countSessions(record, platform)) >= held,
  undo: endSessions,
  verify: verifyNoSessions,
});
