import type { Administration } from '../operations/administration.ts';
import type { PlatformState } from '../platform/state.ts';
import type { StartConditions } from '../platform/unit.ts';
import type { DatabaseSessions } from './database-sessions.ts';
import type { ToxiproxyClient } from './toxiproxy-client.ts';

/** What faults act on: live in a supervisor; offline where a supervisor was killed and its faults are reverted. */
export interface PlatformAccess extends Administration {
  /** False: without a supervisor. The processes of the platform have ended. */
  readonly isLive: boolean;
  state(): PlatformState | undefined;
  /** Resolves when done and ready. */
  act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  /** Changes these conditions of future starts (undefined: the usual one); `relaunch` applies them to a running instance. */
  changeConditions(name: string, change: StartConditions): void;
  /** Stops and starts again, without waiting until it is ready. */
  relaunch(name: string): Promise<void>;
  /** Disconnects senders and readers of telemetry, or accepts them again. */
  setTelemetryUnavailable(isUnavailable: boolean): void;
  toxiproxy(apiUrl: string): ToxiproxyClient;
  readonly sessions: DatabaseSessions;
  /** The libfaketime that shifts a process's clock; undefined when it is not available. */
  libfaketime(): Promise<string | undefined>;
  /** Where failpoints are armed; undefined when the services run without failpoints. */
  readonly failpointDir: string | undefined;
}
