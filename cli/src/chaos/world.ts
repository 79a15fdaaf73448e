import type { DatabaseName } from '../platform/connection.ts';
import type { PlatformState } from '../platform/state.ts';
import type { StartConditions } from '../platform/unit.ts';
import type { DatabaseSessions } from './database-sessions.ts';
import type { ToxiproxyClient } from './toxiproxy-client.ts';

/** What faults act on. The supervisor makes one of the running platform, `heal` one of what a killed one left. */
export interface World {
  /** False: nobody supervises; processes of the platform have ended, and what needs it can only be looked at. */
  readonly isLive: boolean;
  state(): PlatformState | undefined;
  /** Resolves when done and ready. */
  act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  /** What is started from now on starts like this (`{}`: as usual); see `relaunch` for what runs. */
  setConditions(name: string, conditions: StartConditions): void;
  /** Stops and starts again, without waiting until it is ready. */
  relaunch(name: string): Promise<void>;
  /** Disconnects whoever sends or reads telemetry, or lets them again. */
  setTelemetryAway(isAway: boolean): void;
  toxiproxy(apiUrl: string): ToxiproxyClient;
  /** One statement as PostgreSQL's superuser. Rejects with CliError (3) when the server is not ours. */
  query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Holds a password. Both reject with CliError (3) when the server is not ours. */
  serviceDatabaseUrl(database: DatabaseName): Promise<string>;
  superuserDatabaseUrl(database: DatabaseName): Promise<string>;
  readonly sessions: DatabaseSessions;
  /**
   * Evaluates Erlang on the broker and resolves with the value as it prints it. Rejects with CliError (3) when the broker
   * is not ours, (4) when it does not run.
   */
  askBroker(erlang: string): Promise<string>;
  /** AMQP URL of the operator's account at the broker itself; holds a password. Rejects as `askBroker`. */
  brokerUrl(): Promise<string>;
  /** The libfaketime that shifts a process's clock; undefined when this machine has none. */
  libfaketime(): Promise<string | undefined>;
  /** Where failpoints are armed; undefined when the services run without. */
  readonly failpointDir: string | undefined;
}
