import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { InstanceState } from '../platform/state.ts';
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { until } from './poll.ts';
import type { World } from './world.ts';

/** An instance as an undo record holds it. */
export interface VictimRecord {
  readonly name: string;
  readonly process: ProcessIdentity;
}

/** What a process fault acts on. */
export interface Victims {
  readonly target: string;
  readonly victims: readonly VictimRecord[];
}

/** RabbitMQ's start is the longest. */
export const START_LIMIT_MS = 60_000;
const GONE_LIMIT_MS = 3_000;
const READY_LIMIT_MS = 20_000;

/** Instances a target names: one of them, or all replicas of a service. */
export function instancesOf(target: string, world: World): readonly InstanceState[] {
  return world.state()?.instances.filter(({ name, service }) => name === target || service === target) ?? [];
}

/** Throws CliError (4) when nothing of the target runs, (3) when it takes no signals from us. */
export function recordVictims(target: string, world: World): Victims {
  const instances = instancesOf(target, world);
  const foreign = instances.find(
    ({ provider, process }) => provider === 'url' || (provider === 'docker' && process === undefined),
  );
  if (foreign) {
    throw new CliError({
      what: `${foreign.name} is not a process of this platform`,
      why: `it is served by the provider "${foreign.provider}", and takes no signals from this user`,
      next: `choose another with --provider ${foreign.service}=KIND at "shopctl up", or a network fault on an edge to it`,
      exitCode: exitCodes.unavailable,
    });
  }
  const victims = instances.flatMap(({ name, process }) => (process ? [{ name, process }] : []));
  if (victims.length > 0) return { target, victims };
  throw new CliError({
    what: `nothing of ${target} runs`,
    next: `start it with "shopctl start ${target}"`,
    exitCode: exitCodes.notRunning,
  });
}

/** Evidence that these very processes are gone, or undefined when one is still there after the limit. */
export async function awaitGone({ victims }: Victims, limitMs = GONE_LIMIT_MS): Promise<string | undefined> {
  try {
    return await until('the processes to end', limitMs, async () => {
      const alive = await Promise.all(victims.map(({ process }) => isAlive(process)));
      const pids = victims.map(({ name, process }) => `${name} (process ${process.pid})`).join(', ');
      return alive.includes(true) ? undefined : `${pids} ${victims.length > 1 ? 'are' : 'is'} gone`;
    });
  } catch {
    return undefined; // Only the limit ends the wait.
  }
}

/** Starts what is not kept running any more and waits until all of it is ready. Without a supervisor nothing is to do. */
export async function bringBack({ target }: Victims, world: World): Promise<void> {
  if (world.isLive && instancesOf(target, world).length > 0) await world.act(target, 'start');
}

/**
 * Evidence that the target is ready. The supervisor may learn later than this that a process has ended: an instance whose
 * process is gone is not ready, whatever its status says.
 */
export async function verifyReady({ target }: Victims, world: World): Promise<string> {
  if (!world.isLive) return 'the platform has ended; its next start begins anew';
  return until(`${target} to be ready`, READY_LIMIT_MS, async () => {
    const now = instancesOf(target, world);
    const running = await Promise.all(now.map(isRunning));
    if (running.includes(false) || now.some(({ status }) => status !== 'ready')) return undefined;
    return now.map(({ name, process }) => `${name} is ready${process ? ` as process ${process.pid}` : ''}`).join(', ');
  });
}

async function isRunning({ process }: InstanceState): Promise<boolean> {
  return process === undefined || isAlive(process);
}
