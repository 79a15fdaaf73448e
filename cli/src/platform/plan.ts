import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import type { Guest } from '../otlp/guest.ts';
import type { MetricsData } from '../otlp/otlp-json.ts';
import type { StartingRelease } from '../providers/schema/contract-migrations.ts';
import type { ChildRegistry } from './component-unit.ts';
import type { EventLog } from './events.ts';
import type { Fleet } from './fleet.ts';
import type { PortAllocator } from './ports.ts';
import type { RuntimeKind } from './service-runtime.ts';
import type { ChangedSetting, Settings } from './settings.ts';
import type { EdgeState, InstanceState } from './state.ts';
import type { Unit } from './unit.ts';
import type { Route } from './upstreams-file.ts';

/** By service: the port of its first replica's inspector, each next replica has the next one; null: free ones. */
export type InspectPorts = Readonly<Record<string, number | null>>;

/** The most replicas of a service on one machine. */
export const MAX_REPLICAS = 9;

/** What an `up` wants, with what was asked before filled in. */
export interface PlanRequest {
  readonly services: readonly string[];
  /** Services that run already: their ways to what is planned are a part of the plan, and they are not. */
  readonly running: readonly string[];
  readonly replicas: Readonly<Record<string, number>>;
  /** Replicas of which more is known than their number. */
  readonly fleet?: Fleet;
  readonly direct: boolean;
  /** What services run as; absent means as processes. */
  readonly runtime?: RuntimeKind;
  /** Who makes the spans of servers and clients; absent means the services. */
  readonly instrumentation?: InstrumentationKind;
  /** With Prometheus; absent means without. */
  readonly alerts?: boolean;
  readonly providers: Readonly<Record<string, string>>;
  /** Where the gateway listens; 0: at any free port; absent: as before, 8080 or the next free one at first. */
  readonly port?: number;
  /** The asker's settings for services and platform; absent: as before. */
  readonly settings?: Settings;
  /** The way back to releases that are kept may be given up for the contract migrations that are there now. */
  readonly pointOfNoReturn?: boolean;
  /** Known bugs to put back; absent means none. */
  readonly seededBugs?: readonly SeededBugName[];
  /** Services that wait for a debugger; absent means none. */
  readonly inspect?: InspectPorts;
}

/** Everything that should run, ready to be carried out. */
export interface Plan {
  readonly units: readonly Unit[];
  readonly edges: readonly EdgeState[];
  /** Where callers may connect, for each replica of what they call. */
  readonly routes: readonly Route[];
  readonly gatewayUrl: string;
  readonly telemetryUrl: string;
  readonly toxiproxyUrl?: string;
  readonly direct: boolean;
  readonly runtime: RuntimeKind;
  readonly instrumentation: InstrumentationKind;
  /** With Prometheus; absent means without. */
  readonly alerts?: boolean;
  /** Known bugs that its services have; absent means none. */
  readonly seededBugs?: readonly SeededBugName[];
  /** Services that wait for a debugger; absent means none. */
  readonly inspect?: InspectPorts;
  readonly warnings: readonly string[];
  /** Settings of services that are others than before. */
  readonly changedSettings?: readonly ChangedSetting[];
  /** Connections of each service instance to its database; undefined: as many as its code says. */
  readonly databasePoolSize?: number | undefined;
}

/** What a planner may use of its supervisor. */
export interface PlannerContext {
  readonly ports: PortAllocator;
  readonly registry: ChildRegistry;
  readonly events: EventLog;
  /** What runs now. */
  instances(): readonly InstanceState[];
}

/** Decides what runs for a request. Keeps components that run already as they are. */
export interface Planner {
  /** Names that may be asked for. */
  readonly serviceNames: readonly string[];
  plan(request: PlanRequest): Promise<Plan>;
  /**
   * Throws CliError (`release_too_old`) where a release cannot run on its database: of a service by its name, what the clone has.
   * Absent where there is no schema.
   */
  admit?(starting: readonly (string | StartingRelease)[]): Promise<void>;
  /** Ports by owner, to be remembered. */
  ports(): Readonly<Record<string, number>>;
  /** Disconnects every sender and reader of telemetry, or admits them again. Absent where there is none. */
  setTelemetryUnavailable?(isUnavailable: boolean): void;
  /** Stores the supervisor's own metrics beside those of the services. Absent where nothing stores any. */
  takeMetrics?(report: MetricsData): void;
  /** Serves other routes on the telemetry address. Absent where there is none. */
  serve?(guest: Guest): void;
  /** Ends what the planner opened itself (the OTLP receiver). */
  close(): Promise<void>;
}
