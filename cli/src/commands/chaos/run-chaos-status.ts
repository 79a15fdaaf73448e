import { createChaosClient } from '../../chaos/chaos-client.ts';
import type { Lease } from '../../chaos/lease.ts';
import { describeFault, describeWitness, remaining } from '../../chaos/render.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { assertNoOrphanedFaults } from '../../platform/orphaned-faults.ts';

/** `shopctl chaos status`: the active faults. Exit code 6 while one could not be reverted. */
export async function runChaosStatus(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  await assertNoOrphanedFaults(project);
  const leases = await createChaosClient(project).list();
  const faults = leases.filter(({ status }) => status !== 'reverted');
  deps.output.result({ faults, ended: leases.filter(({ status }) => status === 'reverted') }, () =>
    describe(faults, deps),
  );
  if (faults.some(({ status }) => status === 'undo_failed')) process.exitCode = exitCodes.dirty;
}

function describe(faults: readonly Lease[], { output }: CommandDeps): string {
  if (faults.length === 0) return 'no fault is active';
  return formatTable(
    ['ID', 'FAULT', 'STATE', 'ENDS IN', 'HOLDER', 'MEASURED'],
    faults.map((lease) => [
      lease.id,
      describeFault(lease),
      lease.status,
      lease.status === 'undo_failed' ? '-' : remaining(lease),
      lease.isHeld ? 'a command' : '-',
      lease.problem ?? describeWitness(lease, output),
    ]),
  );
}
