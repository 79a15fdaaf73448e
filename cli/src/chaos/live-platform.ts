import { createAdministration } from '../operations/administration.ts';
import { failpointFolder, hasFailpoints } from '../platform/failpoint-files.ts';
import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import { findLibfaketime } from './libfaketime.ts';
import type { PlatformAccess } from './platform-access.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';

export interface LivePlatformOptions
  extends Pick<
    ExtensionContext,
    'project' | 'state' | 'act' | 'changeConditions' | 'relaunch' | 'setTelemetryUnavailable'
  > {
  readonly env: NodeJS.ProcessEnv;
}

/** Access to the running platform. */
export function createLivePlatform(options: LivePlatformOptions): PlatformAccess {
  const { project, env, state, act, changeConditions, relaunch, setTelemetryUnavailable } = options;
  return {
    ...createAdministration({
      project,
      state,
      clientName: 'shopctl-ops',
      unavailable: {
        code: 'fault_unavailable',
        subject: 'its faults are',
        insteadOfBroker: 'use network faults on orders-broker and shipping-broker',
      },
    }),
    isLive: true,
    state,
    act,
    changeConditions,
    relaunch,
    setTelemetryUnavailable,
    toxiproxy: (apiUrl) => createToxiproxyClient(apiUrl),
    libfaketime: () => findLibfaketime({ cacheDir: project.cacheDir, env }),
    sessions: createDatabaseSessions(),
    failpointDir: hasFailpoints(env) ? failpointFolder(project) : undefined,
  };
}
