import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkTarget, findFault } from './catalog.ts';
import type { AnyFault } from './fault.ts';
import type { InjectRequest } from './lease.ts';
import { checkParameters, readDurations } from './parameters.ts';
import type { PlatformAccess } from './platform-access.ts';

/** A fault that is to be injected later. */
export type PlannedFault = Pick<InjectRequest, 'fault' | 'target' | 'parameters'>;

/**
 * Why a fault cannot be injected into this platform (exit code 2 or 3), undefined when it can. Looks as the injection
 * would, and changes nothing. A temporary condition (a database that does not respond now) is not an obstacle.
 */
export async function obstacleTo(
  { fault: name, target, parameters }: PlannedFault,
  platform: PlatformAccess,
): Promise<CliError | undefined> {
  try {
    const fault: AnyFault = findFault(name);
    checkTarget(fault, target, platform.state() ?? { edges: [], instances: [] });
    const checked = checkParameters(fault.parameters, readDurations(fault.parameters, parameters), fault.name);
    const injection = { id: 'planned', target, parameters: checked };
    fault.check?.(injection);
    const obstacle = await fault.hostObstacle?.(platform);
    if (obstacle !== undefined) return obstacle;
    await fault.prepare(injection, platform);
    return undefined;
  } catch (error) {
    const isLasting =
      error instanceof CliError && (error.exitCode === exitCodes.unavailable || error.exitCode === exitCodes.usage);
    return isLasting ? error : undefined;
  }
}
