import { CliError } from '../errors.ts';
import type { InstanceState } from '../platform/state.ts';
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { waitUntil } from '../shared/wait-until.ts';
import type { PlatformAccess } from './platform-access.ts';

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
export function instancesOf(target: string, platform: PlatformAccess): readonly InstanceState[] {
  return platform.state()?.instances.filter(({ name, service }) => name === target || service === target) ?? [];
}

/** Throws CliError (4) when the target is not running, (3) when it accepts no signals from this user. */
export function recordVictims(target: string, platform: PlatformAccess): Victims {
  const instances = instancesOf(target, platform);
  const foreign = instances.find(
    ({ provider, process }) => provider === 'url' || (provider === 'docker' && process === undefined),
  );
  if (foreign) {
    throw new CliError({
      code: 'fault_unavailable',
      what: `${foreign.name} is not a process of this platform`,
      why: `its provider is "${foreign.provider}", and it accepts no signals from this user`,
      next: `choose another with --provider ${foreign.service}=KIND at "shopctl up", or a network fault on an edge to it`,
    });
  }
  const victims = instances.flatMap(({ name, process }) => (process ? [{ name, process }] : []));
  if (victims.length > 0) return { target, victims };
  throw new CliError({
    code: 'component_not_running',
    what: `${target} is not running`,
    next: `start it with "shopctl start ${target}"`,
  });
}

/** Evidence that these very processes are gone, or undefined when one is still there after the limit. */
export async function awaitGone({ victims }: Victims, limitMs = GONE_LIMIT_MS): Promise<string | undefined> {
  try {
    return await waitUntil('the processes to end', limitMs, async () => {
      const alive = await Promise.all(victims.map(({ process }) => isAlive(process)));
      const pids = victims.map(({ name, process }) => `${name} (process ${process.pid})`).join(', ');
      return alive.includes(true) ? undefined : `${pids} ${victims.length > 1 ? 'are' : 'is'} gone`;
    });
  } catch {
    return undefined; // Only the limit ends the wait.
  }
}

/** Starts stopped instances and waits until all are ready. Does nothing without a supervisor. */
export async function bringBack({ target }: Victims, platform: PlatformAccess): Promise<void> {
  if (platform.isLive && instancesOf(target, platform).length > 0) await platform.act(target, 'start');
}

/**
 * Evidence that the target is ready. The supervisor may learn later than this that a process has ended: an instance whose
 * process is gone is not ready, whatever its status says.
 */
export async function verifyReady({ target }: Victims, platform: PlatformAccess): Promise<string> {
  if (!platform.isLive) return 'the platform has ended, and the fault with it';
  return waitUntil(`${target} to be ready`, READY_LIMIT_MS, async () => {
    const now = instancesOf(target, platform);
    const running = await Promise.all(now.map(isRunning));
    if (running.includes(false) || now.some(({ status }) => status !== 'ready')) return undefined;
    return now.map(({ name, process }) => `${name} is ready${process ? ` as process ${process.pid}` : ''}`).join(', ');
  });
}

async function isRunning({ process }: InstanceState): Promise<boolean> {
  return process === undefined || isAlive(process);
}
