/** What the platform needs beside its own services. */
export type ComponentName = 'postgres' | 'rabbitmq' | 'toxiproxy' | 'jaeger';

/** Where a component comes from, in the words of `--provider component=kind`. */
export type ProviderKind = 'url' | 'installed' | 'cache' | 'embedded' | 'docker' | 'download' | 'go' | 'packages';

/** A child process for the supervisor to spawn, watch and end. Times in ms. */
export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
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
  | { readonly type: 'container'; start(): Promise<void>; stop(): Promise<void>; isRunning(): Promise<boolean> }
  | { readonly type: 'external' };

/** One way to run one component, ready to be carried out: prepare, run, probe until it resolves, setUp. */
export interface Launch {
  readonly component: ComponentName;
  readonly kind: ProviderKind;
  /** For people: "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin". */
  readonly detail: string;
  readonly run: Run;
  /** Idempotent work before the process starts, for instance initdb. */
  prepare(): Promise<void>;
  /** Resolves when the component serves; rejects with the reason while it does not. Called repeatedly. */
  probe(signal: AbortSignal): Promise<void>;
  /** Idempotent work once it serves, for instance roles and databases. */
  setUp(): Promise<void>;
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
