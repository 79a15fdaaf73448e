import type { CommandDeps } from '../command-context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import type { Project } from '../platform/project.ts';
import { within } from '../shared/time-limit.ts';

/** A supervisor that runs responds in milliseconds. In ms. */
const CONNECT_LIMIT_MS = 10_000;

/** Connects to the platform. Throws CliError (4) also when its supervisor is frozen. */
export async function connectWithin(deps: CommandDeps, project: Project): Promise<PlatformConnection> {
  try {
    return await within(deps.connect(project), CONNECT_LIMIT_MS, 'the supervisor');
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== exitCodes.timedOut) throw error;
    throw new CliError({
      code: 'supervisor_unresponsive',
      what: error.what,
      why: 'its process exists but does not run: it was stopped (SIGSTOP), or the machine is overloaded',
      next: 'see it with "ps", end it with "shopctl down", then "shopctl up"',
      cause: error,
    });
  }
}
