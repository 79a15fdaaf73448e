import type { AuditTarget } from '../../audit/target.ts';
import type { FaultSession } from '../../chaos/fault-session.ts';
import type { PagerReader } from '../../pager/pager-reader.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import type { LogPosition } from '../../platform/log-reader.ts';
import type { Project } from '../../platform/project.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { ShopDatabases } from '../../shop/databases.ts';
import type { GatewayClient } from '../../shop/gateway-client.ts';
import type { TelemetryBackend } from '../../trace/backend.ts';
import type { ResolvedExperiment } from '../format/schema.ts';
import type { Journal } from '../journal.ts';
import type { Snapshot } from './counters.ts';
import type { OrderLog } from './order-log.ts';
import type { ProcessEvents } from './process-events.ts';
import type { RunningLoads } from './running-loads.ts';

/** The platform an experiment runs on. */
export interface RunPlatform {
  readonly project: Project;
  readonly connection: PlatformConnection;
  readonly gateway: GatewayClient;
  /** As the operator, in transactions that can only read. */
  readonly databases: ShopDatabases;
  readonly telemetry: TelemetryBackend;
  readonly audited: AuditTarget;
  readonly pager: PagerReader;
}

/** A moment that later steps refer to: the start of the run, or the end of a step. */
export interface Baseline {
  /** Wall clock, ms since 1970. */
  readonly time: number;
  /** All counters; undefined when telemetry could not be read then. */
  readonly counters: Snapshot | undefined;
  /** Restarts by instance; undefined when the supervisor could not be asked then. */
  readonly restarts: Readonly<Record<string, number>> | undefined;
  /** Resident memory by instance, bytes; an instance that does not run has none. Undefined as above. */
  readonly rss: Readonly<Record<string, number>> | undefined;
  /** Where each service's log ended; one that is not named did not exist. */
  readonly logs: Readonly<Record<string, LogPosition>>;
  /** Hits by failpoint, `orders.stock-reserved:unsaved`; undefined where the services run without failpoints. */
  readonly hits: Readonly<Record<string, number>> | undefined;
}

/** What every step of a run is given. */
export interface RunContext {
  readonly experiment: ResolvedExperiment;
  readonly runId: string;
  readonly seed: number;
  readonly clock: RunClock;
  readonly journal: Journal;
  /** Aborted when the run is interrupted or its budget is over. */
  readonly signal: AbortSignal;
  readonly platform: RunPlatform;
  readonly orders: OrderLog;
  readonly loads: RunningLoads;
  readonly faults: FaultSession;
  readonly processEvents: ProcessEvents;

  readonly baselines: Map<string, Baseline>;
  /** The platform as an audit reads it, with the instances there are now. Dispose it to close its connections. */
  freshAuditTarget(): Promise<AuditTarget>;
  /** When the budget is over, on the run's clock, ms. */
  readonly endsAt: number;
}
