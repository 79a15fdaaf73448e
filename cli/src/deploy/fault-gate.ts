import { CliError } from '../errors.ts';
import { assertNoStuckFaults } from '../platform/orphaned-faults.ts';
import type { PlatformState } from '../platform/state.ts';

/**
 * Throws CliError (6) while a fault is active, unless `duringChaos`, and for one that could not be reverted in any case. `of` is what is
 * rolled out: `the release`.
 */
export function assertNoFault(faults: PlatformState['faults'], of: string, duringChaos: boolean): void {
  assertNoStuckFaults(faults);
  if (faults.length === 0 || duringChaos) return;
  throw new CliError({
    code: 'deploy_during_fault',
    what: 'a fault is active',
    why: `${faults.map(({ fault, target }) => `${fault} on ${target}`).join(', ')}: what it does would be taken for what ${of} does`,
    next: 'wait for its end, or add --during-chaos',
  });
}
