import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { PlatformState } from '../platform/state.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';
import type { World } from './world.ts';

/** What a killed supervisor left behind: its children have ended, servers that are not ours may still run. */
export function createLeftWorld(state: PlatformState | undefined): World {
  const away = (): CliError =>
    new CliError({ what: 'the platform does not run', next: 'run "shopctl up"', exitCode: exitCodes.notRunning });
  const refuse = () => Promise.reject(away());
  return {
    isLive: false,
    state: () => state,
    act: refuse,
    // Nothing is started any more, so nothing starts otherwise.
    setConditions: () => undefined,
    relaunch: refuse,
    // The receiver has ended with its supervisor.
    setTelemetryAway: () => undefined,
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
