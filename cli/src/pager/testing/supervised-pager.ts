import type { Server } from 'node:http';
import { type OtlpReceiver, startOtlpReceiver } from '../../otlp/receiver.ts';
import { type ControlHandlers, startControlApi } from '../../platform/control-api.ts';
import { createEventLog, type EventLog } from '../../platform/events.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { ExtensionContext, SupervisorExtension } from '../../platform/supervisor-extension.ts';
import { openPager } from '../supervise.ts';

/** The part of a supervisor that a pager is in: its telemetry address and its control API, without a platform. */
export interface SupervisedPager extends AsyncDisposable {
  /** Where Prometheus and amtool connect. */
  readonly url: string;
  readonly events: EventLog;
  /** Alerts as Prometheus reports them; resolves to the status. */
  report(...alerts: readonly object[]): Promise<number>;
  /** Ends it without anything that an orderly end does. */
  kill(): Promise<void>;
}

export async function startSupervisedPager(
  project: Project,
  { instances = [], env = {} }: { instances?: PlatformState['instances']; env?: NodeJS.ProcessEnv } = {},
): Promise<SupervisedPager> {
  const receiver: OtlpReceiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const events = createEventLog();
  const state = { instances, faults: [], status: 'ready', telemetryUrl: receiver.url } as unknown as PlatformState;
  const context: Partial<ExtensionContext> = {
    project,
    events,
    state: () => state,
    serve: (guest) => receiver.serve(guest),
  };
  const pager: SupervisorExtension = await openPager({ ...(context as ExtensionContext), env });
  const handlers: Partial<ControlHandlers> = { state: async () => state, handleOther: pager.handle };
  const server: Server = await startControlApi(project.socketPath, handlers as ControlHandlers);
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await receiver.close();
  };
  return {
    url: receiver.url,
    events,
    async report(...alerts) {
      const response = await fetch(`${receiver.url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      return response.status;
    },
    kill: close,
    async [Symbol.asyncDispose]() {
      await pager.end();
      await close();
    },
  };
}
