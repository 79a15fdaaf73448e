import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { CliErrorCode } from '../../error-codes.ts';
import { CliError } from '../../errors.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { tailLines } from '../../platform/log-tail.ts';
import type { InstanceState } from '../../platform/state.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { formatDuration } from '../../shared/duration.ts';
import { poll } from '../../shared/wait-until.ts';

export interface WaitOptions extends CommonOptions {
  /** Seconds. */
  readonly timeout: number;
}

const LOOK_EVERY_MS = 50;

/** `shopctl wait [SERVICE...]`. A service that has failed for good ends the wait immediately. */
export async function runWait(services: readonly string[], options: WaitOptions, deps: CommandDeps): Promise<void> {
  const control = createControlClient(deps.projectFrom(options));
  const began = performance.now();
  const progress = deps.output.progress(`waiting for ${services.length > 0 ? services.join(', ') : 'every service'}`);
  const lookForReady = async (): Promise<readonly InstanceState[] | undefined> => {
    const chosen = choose((await control.state()).instances, services);
    const late = chosen.filter(({ status }) => status !== 'ready');
    if (late.length === 0) return chosen;
    progress.update(`waiting for ${late.map(({ name }) => name).join(', ')}`);
    const failed = late.find(({ status }) => status === 'failed');
    if (failed) throw await notReady(failed, 'has failed', 'instance_failed');
    if (performance.now() - began > options.timeout * 1000) {
      throw await notReady(late[0] as InstanceState, `is not ready after ${options.timeout} s`, 'not_ready_in_time');
    }
    return undefined;
  };
  try {
    const ready = await poll(lookForReady, { everyMs: LOOK_EVERY_MS });
    progress.stop();
    const result = { ready: ready.map(({ name }) => name), tookMs: performance.now() - began };
    deps.output.result(result, () => `ready: ${result.ready.join(', ')} (${formatDuration(result.tookMs)})`);
  } catch (error) {
    progress.fail('not ready');
    throw error;
  }
}

function choose(instances: readonly InstanceState[], names: readonly string[]): readonly InstanceState[] {
  if (names.length === 0) return instances;
  return names.flatMap((name) => {
    const found = instances.filter((instance) => instance.service === name || instance.name === name);
    if (found.length > 0) return found;
    throw unknownService(name, [...new Set(instances.map(({ service }) => service))]);
  });
}

async function notReady(instance: InstanceState, what: string, code: CliErrorCode): Promise<CliError> {
  const lines = instance.logFile ? await tailLines(instance.logFile, 8) : [];
  return new CliError({
    code,
    what: `${instance.name} ${what}`,
    why: [instance.reason ?? instance.status, ...lines.map((line) => `  ${line}`)].join('\n'),
    next: `"shopctl logs ${instance.service}" shows the whole log, "shopctl restart ${instance.service}" tries again`,
  });
}
