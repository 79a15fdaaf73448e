import type { ComponentName } from '../topology/components.ts';
import type { SchemaGate } from './schema/schema-gate.ts';
import type { Secrets } from './secrets.ts';

/** Where a component comes from, in the words of `--provider component=kind`. */
export type ProviderKind =
  | 'url'
  | 'installed'
  | 'cache'
  | 'embedded'
  | 'docker'
  | 'release'
  | 'go'
  | 'packages'
  | 'npm';

/** The ways there are for each, in the order in which they are tried. */
export const componentWays: Readonly<Record<ComponentName, readonly ProviderKind[]>> = {
  postgres: ['url', 'installed', 'embedded', 'docker'],
  rabbitmq: ['url', 'installed', 'docker', 'packages'],
  toxiproxy: ['url', 'installed', 'cache', 'docker', 'release', 'go'],
  jaeger: ['url', 'installed', 'cache', 'docker', 'release', 'go'],
  prometheus: ['url', 'installed', 'cache', 'docker', 'release', 'packages', 'go'],
};

/** A child process for the supervisor to spawn, watch and end. Times in ms. */
export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Given when the supervisor runs as root and the component refuses to. */
  readonly uid?: number;
  readonly gid?: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopTimeoutMs: number;
}

/** How a component is run: as our child, as a container, or not by us at all. */
export type Run =
  | { readonly type: 'process'; readonly spec: ProcessSpec }
  | ContainerRun
  | { readonly type: 'external' };

/** A container that is created each time, with its data in a volume. */
export interface ContainerRun {
  readonly type: 'container';
  /**
   * Removes what an earlier run left. `ended` resolves when it has ended and is removed, with how; it never rejects. `pid`
   * is its first process, where that is one of this machine which takes signals from us.
   */
  start(): Promise<{ readonly ended: Promise<string>; readonly pid?: number }>;
  /** Ends it, by force after the limit, and removes it. Default limit: 10 s. */
  stop(timeoutMs?: number): Promise<void>;
}

/** Where a component listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** One way to run one component, ready to be carried out: prepare, run, probe until it resolves, setUp. */
export interface Launch {
  readonly component: ComponentName;
  readonly kind: ProviderKind;
  /** For people: "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin". Holds no secret. */
  readonly detail: string;
  readonly run: Run;
  /** The main port: SQL, AMQP, Toxiproxy's API, Jaeger's query API. */
  readonly address: Address;
  /** What other processes need to work with it (ports, paths); holds no secret, may be kept in state.json. */
  readonly info: Readonly<Record<string, string | number>>;
  /** The URL of a component that is not ours, with its password: never printed, never kept in state.json. */
  readonly externalUrl?: string;
  /** For people, where it has pages or an API that they open: `http://127.0.0.1:9090`. */
  readonly url?: string;
  /** Idempotent work before the process starts, for instance initdb. */
  prepare(): Promise<void>;
  /** Resolves when the component serves; rejects with the reason while it does not. Called repeatedly. */
  probe(signal: AbortSignal): Promise<void>;
  /** Idempotent work once it serves, for instance roles and databases. */
  setUp(): Promise<void>;
  /** While it serves: does what setUp would do now, and resolves with what that changed, like `migration orders/0007_refunds`. */
  refresh?(): Promise<readonly string[]>;
  /** Ends what the process left behind when it ended (epmd, for instance), also after kill -9. */
  cleanUp(): Promise<void>;
}

export interface Availability {
  readonly kind: ProviderKind;
  /** Can serve now. */
  readonly available: boolean;
  /** Cannot serve now but `setup` can make it so (downloads, builds). */
  readonly installable: boolean;
  /** What was found, or why not and what to do. */
  readonly detail: string;
}

/** Shown to the user who waits: "downloading erlang-base (3 of 16)". */
export type OnProgress = (message: string) => void;

/** One way to have a component. `check` takes well under a second and changes nothing. */
export interface Provider {
  readonly kind: ProviderKind;
  check(): Promise<Availability>;
  /** Call only when `check` said available. Reserves ports, starts nothing. */
  launch(): Promise<Launch>;
  /** Makes an installable way available; downloads or builds into the cache directory. Aborting leaves nothing. */
  install?(onProgress: OnProgress, signal?: AbortSignal): Promise<void>;
}

/** Free loopback ports. */
export interface Ports {
  /** The same name gives the same ports again while they are free, so that addresses survive a restart. */
  reserve(name: string, count?: number): Promise<readonly number[]>;
}

/** Everything a provider may use; providers read no globals. */
export interface ComponentContext {
  /** The clone, for what npm installs into it; without it such packages are not available. */
  readonly root?: string;
  readonly project: string;
  /** Belongs to this project alone, mode 0700. */
  readonly stateDir: string;
  /** Shared by all clones of this user: downloads, builds, prepared data directories. */
  readonly cacheDir: string;
  /** Holds one folder of SQL files per database. */
  readonly migrationsDir: string;
  /** Decides about contract migrations; absent where nothing is known of what runs. */
  readonly schemaGate?: SchemaGate;
  /** The file a process logs to, created by its first writer. */
  logFile(name: string): string;
  /** Base URL where the supervisor takes telemetry and gives metrics; absent where nothing is run. */
  readonly telemetryUrl?: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly env: NodeJS.ProcessEnv;
}
