import { messageOf } from '../../../errors.ts';
import { askedFrom } from '../../../platform/change-log.ts';
import type { ServiceProvider } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/**
 * Restarts in order, and waits until it is done. To keep a service stopped is a fault (`stop`), which has a lease: a run that is
 * killed leaves nothing stopped.
 */
export async function actOnService(
  { do: action, target }: ServiceProvider,
  { platform }: RunContext,
): Promise<StepResult> {
  try {
    await platform.connection.control.service(target, action, askedFrom('experiment'));
    return { verdict: 'pass', observed: `${target}: ${action} done` };
  } catch (error) {
    return unknown(`${target}: ${action} failed: ${messageOf(error)}`);
  }
}
