import { findFault } from '../../chaos/catalog.ts';
import { type ChaosClient, createChaosClient } from '../../chaos/chaos-client.ts';
import type { Lease } from '../../chaos/lease.ts';
import { describeEnd, describeFault, describeWitness, remaining } from '../../chaos/render.ts';
import { parseFault } from '../../chaos/written-fault.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError, receivedError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { assertNoOrphanedFaults, assertNoStuckFaults } from '../../platform/orphaned-faults.ts';
import type { Project } from '../../platform/project.ts';
import { waitUntil } from '../../shared/wait-until.ts';

export interface ChaosInjectOptions extends CommonOptions {
  /** ms. */
  readonly ttl: number;
  readonly hold?: boolean;
  /** All other options are parameters of faults, by their names. */
  readonly [parameter: string]: unknown;
}

/** How long the end of a held fault may take after Ctrl-C, ms: the longest is a service or component that starts again. */
const END_LIMIT_MS = 70_000;

/** `shopctl chaos inject`. Exit code 5 when the fault is not measurably in effect, 6 when it could not be reverted. */
export async function runChaosInject(
  place: string,
  faultName: string | undefined,
  options: ChaosInjectOptions,
  deps: CommandDeps,
): Promise<void> {
  const { output, signal } = deps;
  const { ttl, hold = false, project: _, json: __, format: ___, ...given } = options;
  const written = faultName === undefined ? parseFault(place) : { target: place, fault: faultName, parameters: {} };
  const { target } = written;
  const parameters = { ...written.parameters, ...given };
  const fault = findFault(written.fault);
  const project = deps.projectFrom(options);
  await refuseDirty(project);
  const client = createChaosClient(project);
  const progress = output.progress(`injecting ${fault.name} into ${target}`);
  let lease: Lease | undefined;
  deps.onInterrupt(async () => {
    progress.stop();
    await reportEnd(client, target, fault.name, deps);
  });
  try {
    for await (const progressed of client.inject({ target, fault: fault.name, parameters, ttlMs: ttl, hold }, signal)) {
      if (progressed.type === 'failed') throw receivedError(progressed.error);
      lease = progressed.lease;
      if (progressed.type === 'ended') break;
      progress.stop();
      show(lease, hold, deps);
    }
  } catch (error) {
    progress.stop();
    throw error;
  }
  if (!lease) throw lostSupervisor();
  if (hold) output.record(lease, (ended) => describeEnd(ended, output));
  process.exitCode = exitCodeOf(lease);
}

async function refuseDirty(project: Project): Promise<void> {
  await assertNoOrphanedFaults(project);
  assertNoStuckFaults((await createControlClient(project).state()).faults);
}

function show(lease: Lease, isHeld: boolean, { output }: CommandDeps): void {
  const lines = (): string => {
    const head = `${lease.id} ${describeFault(lease)}: ${describeWitness(lease, output)}`;
    if (lease.status === 'reverted' || lease.status === 'undo_failed') return `${head}\n${describeEnd(lease, output)}`;
    const end = isHeld ? 'Ctrl-C ends it' : `"shopctl chaos clear ${lease.id}" ends it`;
    return `${head}\n${end}, otherwise it ends in ${remaining(lease)}`;
  };
  if (isHeld) output.record(lease, lines);
  else output.result(lease, lines);
}

/** After Ctrl-C: the supervisor reverts the fault when the connection is lost; this waits for its end. */
async function reportEnd(client: ChaosClient, target: string, fault: string, { output }: CommandDeps): Promise<void> {
  const ended = await waitUntil('the fault to end', END_LIMIT_MS, async () => {
    const own = (await client.list()).filter((one) => one.target === target && one.fault === fault).at(-1);
    if (!own) return { lease: undefined };
    // A detached fault that was in effect already stays.
    if (own.status === 'active' && !own.isHeld) return { lease: own };
    return own.status === 'reverted' || own.status === 'undo_failed' ? { lease: own } : undefined;
  });
  if (ended.lease) output.note(describeEnd(ended.lease, output));
}

function exitCodeOf({ status, witness }: Lease) {
  if (status === 'undo_failed') return exitCodes.dirty;
  return witness?.verdict === 'not_observed' || witness?.verdict === 'unmeasurable' ? exitCodes.unknown : exitCodes.ok;
}

function lostSupervisor(): CliError {
  return new CliError({
    code: 'supervisor_lost',
    what: 'the supervisor ended while the fault was injected',
    next: 'run "shopctl chaos clear --all"',
  });
}
