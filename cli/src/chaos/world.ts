import type { DatabaseName } from '../platform/connection.ts';
import type { PlatformState } from '../platform/state.ts';
import type { DatabaseSessions } from './database-sessions.ts';
import type { ToxiproxyClient } from './toxiproxy-client.ts';

/** What faults act on. The supervisor makes one of the running platform, `heal` one of what a killed one left. */
export interface World {
  /** False: nobody supervises; processes of the platform have ended, and what needs it can only be looked at. */
  readonly isLive: boolean;
  state(): PlatformState | undefined;
  /** Resolves when done and ready. */
  act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  toxiproxy(apiUrl: string): ToxiproxyClient;
  /** One statement as PostgreSQL's superuser. Rejects with CliError (3) when the server is not ours. */
  query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Holds a password. Both reject with CliError (3) when the server is not ours. */
  serviceDatabaseUrl(database: DatabaseName): Promise<string>;
  superuserDatabaseUrl(database: DatabaseName): Promise<string>;
  readonly sessions: DatabaseSessions;
  /** Where failpoints are armed; undefined when the services run without. */
  readonly failpointDir: string | undefined;
}
