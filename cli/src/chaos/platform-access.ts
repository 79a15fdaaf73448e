import type { PlatformState } from '../platform/state.ts';
import type { StartConditions } from '../platform/unit.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { DatabaseSessions } from './database-sessions.ts';
import type { ToxiproxyClient } from './toxiproxy-client.ts';

/** What faults act on: live in a supervisor; offline where a supervisor was killed and its faults are reverted. */
export interface PlatformAccess {
  /** False: without a supervisor. The processes of the platform have ended. */
  readonly isLive: boolean;
  state(): PlatformState | undefined;
  /** Resolves when done and ready. */
  act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  /** Conditions of future starts (`{}`: the usual ones); `relaunch` applies them to a running instance. */
  setConditions(name: string, conditions: StartConditions): void;
  /** Stops and starts again, without waiting until it is ready. */
  relaunch(name: string): Promise<void>;
  /** Disconnects senders and readers of telemetry, or accepts them again. */
  setTelemetryUnavailable(isAway: boolean): void;
  toxiproxy(apiUrl: string): ToxiproxyClient;
  /** One statement as PostgreSQL's superuser. Rejects with CliError (3) when the server is managed externally. */
  query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Holds a password. Both reject with CliError (3) when the server is managed externally. */
  serviceDatabaseUrl(database: DatabaseName): Promise<string>;
  superuserDatabaseUrl(database: DatabaseName): Promise<string>;
  readonly sessions: DatabaseSessions;
  /**
   * Evaluates Erlang on the broker and resolves with the value as it prints it. Rejects with CliError (3) when the broker
   * is managed externally, (4) when it does not run.
   */
  askBroker(erlang: string): Promise<string>;
  /** AMQP URL of the operator's account at the broker itself; holds a password. Rejects as `askBroker`. */
  brokerUrl(): Promise<string>;
  /** The libfaketime that shifts a process's clock; undefined when it is not available. */
  libfaketime(): Promise<string | undefined>;
  /** Where failpoints are armed; undefined when the services run without failpoints. */
  readonly failpointDir: string | undefined;
}
