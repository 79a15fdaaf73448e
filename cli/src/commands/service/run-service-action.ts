import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { buildService } from '../../platform/service-builds.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { ReasonOptions } from '../reason.ts';

const words = {
  start: { doing: 'starting', done: 'is ready' },
  stop: { doing: 'stopping', done: 'stopped' },
  restart: { doing: 'restarting', done: 'is ready again' },
} as const;

export interface StartOptions extends CommonOptions, ReasonOptions {
  readonly build: boolean;
}

/** `shopctl start|stop|restart SERVICE`. */
export async function runServiceAction(
  action: 'start' | 'stop' | 'restart',
  service: string,
  options: CommonOptions & Partial<StartOptions>,
  deps: CommandDeps,
): Promise<void> {
  const project = deps.projectFrom(options);
  const began = performance.now();
  const progress = deps.output.progress(`${words[action].doing} ${service}`);
  try {
    const control = createControlClient(project);
    if (options.build) await buildService(service, project, await control.state(), { ...deps, progress });
    const state = await control.service(service, action, askedFrom('command line', options.reason));
    progress.stop();
    const instances = state.instances.filter((instance) => instance.service === service || instance.name === service);
    const result = { service, action, tookMs: performance.now() - began, instances };
    deps.output.result(result, () => `${service} ${words[action].done} (${formatDuration(result.tookMs)})`);
  } catch (error) {
    progress.fail(`${service} not ${action === 'stop' ? 'stopped' : 'started'}`);
    throw error;
  }
}
