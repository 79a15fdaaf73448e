import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { type EndedPlatform, endPlatform } from '../../platform/end-platform.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { ReasonOptions } from '../reason.ts';

export interface DownOptions extends CommonOptions, ReasonOptions {
  readonly volumes?: boolean;
  readonly purge?: boolean;
  /** Seconds. */
  readonly timeout?: number;
}

/** `shopctl down`. */
export async function runDown(options: DownOptions, deps: CommandDeps): Promise<void> {
  const purge = options.volumes === true || options.purge === true;
  const ended = await endPlatform(
    deps.projectFrom(options),
    { purge, timeout: options.timeout, reason: options.reason },
    deps,
  );
  deps.output.result(ended, describe);
}

function describe({ wasRunning, leftovers, purged, tookMs }: EndedPlatform): string {
  const parts = [wasRunning ? `stopped in ${formatDuration(tookMs)}` : 'nothing was running'];
  if (leftovers > 0) parts.push(`ended ${leftovers} processes and containers of a killed run`);
  parts.push(purged ? 'data, secrets and logs removed' : 'data kept ("shopctl down -v" removes it)');
  return parts.join('; ');
}
