import { CliError } from '../errors.ts';
import type { PlatformState } from '../platform/state.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import type { PlatformAccess } from './platform-access.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';

/** Access after a supervisor was killed: its children have ended; servers that are managed externally may still run. */
export function createOfflinePlatform(state: PlatformState | undefined): PlatformAccess {
  const notRunning = (): CliError =>
    new CliError({ code: 'platform_not_running', what: 'the platform is not running', next: 'run "shopctl up"' });
  const refuse = () => Promise.reject(notRunning());
  return {
    clientName: 'shopctl-ops',
    isLive: false,
    state: () => state,
    act: refuse,
    // There are no more starts.
    changeConditions: () => undefined,
    relaunch: refuse,
    // The receiver has ended with its supervisor.
    setTelemetryUnavailable: () => undefined,
    toxiproxy: (apiUrl) => createToxiproxyClient(apiUrl),
    superuserDatabaseUrl: refuse,
    serviceDatabaseUrl: refuse,
    query: refuse,
    askBroker: refuse,
    brokerUrl: refuse,
    libfaketime: async () => undefined,
    sessions: createDatabaseSessions(),
    failpointDir: undefined,
  };
}
