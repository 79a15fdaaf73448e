import { readFile } from 'node:fs/promises';
import type { Track } from '@shop/kit/release.ts';
import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import { CliError, messageOf } from '../errors.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';
import { writePrivateFile } from '../providers/private-file.ts';
import type { RuntimeKind } from './service-runtime.ts';

/**
 * What an instance is doing. `backoff` waits to be restarted after a crash; `failed` gave up (crash loop) and says why;
 * `external` is served by something we did not start.
 */
export type InstanceStatus = 'stopped' | 'starting' | 'ready' | 'unready' | 'backoff' | 'failed' | 'stopping';

/** What is announced of a replica: to its callers, or to itself where it takes messages from a queue. */
export interface UpstreamState {
  /** `joining`: it was added, and is not shown to callers before it is ready. `draining`: it gets no new work. */
  readonly state: 'joining' | 'active' | 'draining';
  /** Its share of the calls is its weight divided by the sum of the weights. */
  readonly weight: number;
  /** Absent: stable. */
  readonly track?: Track;
}

/** One replica of a service, or one component. */
export interface InstanceState {
  /** `orders-1`, `rabbitmq`. */
  readonly name: string;
  /** `orders`, `rabbitmq`. */
  readonly service: string;
  readonly kind: 'service' | 'component';
  readonly status: InstanceStatus;
  /** Why it is not ready, or failed. */
  readonly reason?: string;
  readonly process?: ProcessIdentity;
  /** Services: what they run, as reported at the last probe. One of an older version does not report it. */
  readonly version?: string;
  readonly track?: string;
  /** Services: changes with the bundle or image that they are started from. A supervisor of an older build does not say. */
  readonly code?: string;
  /** Its ports by listener; `main` is the one that others use. */
  readonly ports: Readonly<Record<string, number>>;
  /** Base URL for people, where there is one. */
  readonly url?: string;
  /** How often its process was replaced by another, by whatever: a crash, a command, a fault, a changed setting. */
  readonly restarts: number;
  /** How often it ended without being asked to. A supervisor of an older build does not say. */
  readonly crashes?: number;
  /** ISO time of the last start. */
  readonly startedAt?: string;
  /** Components: which provider serves it, in the words of `--provider`. */
  readonly provider?: string;
  /** Components: version and place. */
  readonly detail?: string;
  /** Components: the main port. */
  readonly address?: { readonly host: string; readonly port: number };
  /** Components: what other processes need to work with it; no secret. */
  readonly info?: Readonly<Record<string, string | number>>;
  /** `127.0.0.1:9229`: where a debugger attaches; absent where none can. */
  readonly inspector?: string;
  readonly logFile?: string;
  /** Services that others call, or that take messages from a queue. */
  readonly upstream?: UpstreamState;
  /** Measured when the state was asked for; absent while it does not run. */
  readonly cpuPercent?: number;
  readonly rssBytes?: number;
}

/** One proxy on an edge of the topology. */
export interface EdgeState {
  /** Name of the proxy: `orders-payments`, `gateway-orders-2`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** `host:port` where the caller connects. */
  readonly listen: string;
  /** `host:port` behind it. */
  readonly upstream: string;
  /** Callers pass by the proxy (`reroute`). */
  readonly via?: 'standby';
}

/** How long one part took at the last start. Times in ms since `up` was asked. */
export interface StartStep {
  readonly name: string;
  readonly beganMs: number;
  readonly readyMs: number;
  /** What it had to wait for before it could begin. */
  readonly waitedFor: readonly string[];
}

/** A fault that was injected and has not been reverted yet. */
export interface ActiveFault {
  readonly id: string;
  readonly fault: string;
  readonly target: string;
  /** `undo_failed`: it could not be reverted. */
  readonly status: 'injecting' | 'active' | 'ending' | 'undo_failed';
  /** ISO time at which its TTL ends. */
  readonly expiresAt: string;
}

/** A failure drill that is on: the same whatever it is about. */
export interface ActiveDrill {
  readonly id: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly limitMs: number;
}

/** Everything about a platform, without secrets. Written to `state.json`, returned by `GET /v1/state`. */
export interface PlatformState {
  readonly project: string;
  readonly status: 'starting' | 'ready' | 'degraded' | 'stopping' | 'stopped';
  readonly supervisor: ProcessIdentity;
  /** What the supervisor was built from; another value in the clone means that a newer one is there. */
  readonly build?: string;
  readonly reaper?: ProcessIdentity;
  /** Marks every process of this project in its environment, so that leftovers can be recognised. */
  readonly mark: string;
  readonly socketPath: string;
  readonly startedAt: string;
  readonly direct: boolean;
  /** What its services run as. A supervisor of an older build does not say: as processes. */
  readonly runtime?: RuntimeKind;
  /** Who makes the spans of servers and clients. A supervisor of an older build does not say: the services. */
  readonly instrumentation?: InstrumentationKind;
  readonly gatewayUrl: string;
  readonly telemetryUrl: string;
  /** Toxiproxy's HTTP API; absent when the services are wired directly. */
  readonly toxiproxyUrl?: string;
  /** Ports by owner and listener, `orders-1` or `postgres`; kept for the next start. */
  readonly ports: Readonly<Record<string, number>>;
  readonly instances: readonly InstanceState[];
  readonly edges: readonly EdgeState[];
  readonly startReport: readonly StartStep[];
  readonly warnings: readonly string[];
  /** Replicas of each service as last asked for. */
  readonly replicas: Readonly<Record<string, number>>;
  readonly faults: readonly ActiveFault[];
  readonly drill?: ActiveDrill;
  /** True when failpoints can be armed in its services. A supervisor of an older build does not say. */
  readonly failpoints?: boolean;
  /** Known bugs that were put back into its services. A supervisor of an older build does not say. */
  readonly seededBugs?: readonly SeededBugName[];
  /** Connections of each instance to its database, where DATABASE_POOL_SIZE said so; otherwise those of @shop/kit/pool-sizes. */
  readonly databasePoolSize?: number;
}

/** The HTTP port of a service: stock has one for health beside its gRPC port. */
export function httpPort({ ports }: Pick<InstanceState, 'ports'>): number | undefined {
  return ports.health ?? ports.main;
}

/** The state a project left on disk, or undefined when there is none. Throws CliError when it is not JSON. */
export async function readState(file: string): Promise<PlatformState | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as PlatformState;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError({
      code: 'state_unreadable',
      what: `cannot read ${file}`,
      why: messageOf(cause),
      next: 'the next "shopctl up" or "shopctl down" goes on without it, and writes it again',
      cause,
    });
  }
}

/** The same for who takes a project over: one that a power failure tore is reported, and is none. */
export async function recoverState(
  file: string,
  report: (problem: string) => void = console.error,
): Promise<PlatformState | undefined> {
  try {
    return await readState(file);
  } catch (error) {
    if (!(error instanceof CliError && error.cause instanceof SyntaxError)) throw error;
    report(`going on without the earlier state, with other ports perhaps: ${file} was torn (${error.why})`);
    return undefined;
  }
}

export async function writeState(file: string, state: PlatformState): Promise<void> {
  await writePrivateFile(file, `${JSON.stringify(state, null, 2)}\n`);
}
