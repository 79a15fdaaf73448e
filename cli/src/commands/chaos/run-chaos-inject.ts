import { findFault } from '../../chaos/catalog.ts';
import { type ChaosClient, createChaosClient } from '../../chaos/chaos-client.ts';
import type { Lease } from '../../chaos/lease.ts';
import { until } from '../../chaos/poll.ts';
import { describeEnd, describeFault, describeWitness, remaining } from '../../chaos/render.ts';
import { parseFault } from '../../chaos/written-fault.ts';
import type { CommandDeps } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { refuseLeftFaults, refuseRemains } from '../../platform/leftover-faults.ts';
import type { Project } from '../../platform/project.ts';
import type { ChaosInjectOptions } from './command.ts';

/** How long the end of a held fault may take after Ctrl-C, ms: the longest is a service or component that starts again. */
const END_LIMIT_MS = 70_000;

/** `shopctl chaos inject`. Exit code 5 when the fault is not measurably in effect, 6 when it could not be taken back. */
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
    await tellEnd(client, target, fault.name, deps);
  });
  try {
    for await (const answer of client.inject({ target, fault: fault.name, parameters, ttlMs: ttl, hold }, signal)) {
      if (answer.type === 'failed') throw new CliError(answer.error);
      lease = answer.lease;
      if (answer.type === 'ended') break;
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
  await refuseLeftFaults(project);
  refuseRemains((await createControlClient(project).state()).faults);
}

function show(lease: Lease, isHeld: boolean, { output }: CommandDeps): void {
  const lines = (): string => {
    const head = `${lease.id} ${describeFault(lease)}: ${describeWitness(lease, output)}`;
    if (lease.status === 'healed' || lease.status === 'remains') return `${head}\n${describeEnd(lease, output)}`;
    const end = isHeld ? 'Ctrl-C ends it' : `"shopctl chaos clear ${lease.id}" ends it`;
    return `${head}\n${end}, otherwise it ends in ${remaining(lease)}`;
  };
  if (isHeld) output.record(lease, lines);
  else output.result(lease, lines);
}

/** After Ctrl-C: the supervisor takes the fault back as soon as the connection is gone; we wait to see it through. */
async function tellEnd(client: ChaosClient, target: string, fault: string, { output }: CommandDeps): Promise<void> {
  const ended = await until('the fault to end', END_LIMIT_MS, async () => {
    const own = (await client.list()).filter((one) => one.target === target && one.fault === fault).at(-1);
    if (!own) return { lease: undefined };
    // A detached one that was in effect already goes on as it was told to.
    if (own.status === 'active' && !own.isHeld) return { lease: own };
    return own.status === 'healed' || own.status === 'remains' ? { lease: own } : undefined;
  });
  if (ended.lease) output.note(describeEnd(ended.lease, output));
}

function exitCodeOf({ status, witness }: Lease) {
  if (status === 'remains') return exitCodes.dirty;
  return witness?.verdict === 'absent' || witness?.verdict === 'unmeasurable' ? exitCodes.unknown : exitCodes.ok;
}

function lostSupervisor(): CliError {
  return new CliError({
    what: 'the supervisor ended while the fault was injected',
    next: 'run "shopctl chaos heal"',
    exitCode: exitCodes.notRunning,
  });
}
