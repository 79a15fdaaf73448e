import type { Client } from 'pg';

/** Connections that faults hold open, by the fault's id. They end with this process, and their locks with them. */
export interface DatabaseSessions {
  /** Opens one more for this id. Rejects with the server's refusal. `application` is what an undo finds it by. */
  open(id: string, url: string, application: string): Promise<Client>;
  /** Ends all of this id. */
  close(id: string): Promise<void>;
}

const CONNECT_LIMIT_MS = 2_000;

/** `application_name` of a fault's connections. That of a drill's does not say that it is a fault. */
export function sessionName({ id, hidden = false }: { readonly id: string; readonly hidden?: boolean }): string {
  return `${hidden ? 'nightly-report' : 'shopctl-chaos'}-${id}`;
}

export function createDatabaseSessions(): DatabaseSessions {
  const sessions = new Map<string, Set<Client>>();
  return {
    async open(id, url, application) {
      const { default: pg } = await import('pg');
      const client = new pg.Client({
        connectionString: url,
        application_name: application,
        connectionTimeoutMillis: CONNECT_LIMIT_MS,
      });
      // The server may end it (a restart, another fault): then it holds nothing any more.
      client.on('error', () => sessions.get(id)?.delete(client));
      await client.connect();
      const own = sessions.get(id) ?? new Set();
      sessions.set(id, own.add(client));
      return client;
    },
    async close(id) {
      const own = sessions.get(id) ?? new Set();
      sessions.delete(id);
      // A server that is frozen never closes; the undo's own limit ends that wait.
      await Promise.all([...own].map((client) => client.end()));
    },
  };
}
