import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CliError, messageOf } from '../errors.ts';
import type { Guest } from '../otlp/guest.ts';
import type { MetricsData } from '../otlp/otlp-json.ts';
import type { Asked } from './change-log.ts';
import type { EventLog } from './events.ts';
import type { OperationOptions, OperationRequest, OperationResult } from './operations.ts';
import type { Platform } from './platform.ts';
import type { Project } from './project.ts';
import type { ActiveDrill, ActiveFault, PlatformState } from './state.ts';
import type { StartConditions } from './unit.ts';

/** What operators ask of a platform. */
export type PlatformOperation =
  | { readonly kind: 'up' }
  | { readonly kind: 'act'; readonly name: string }
  | OperationRequest;

/** Something more that a supervisor serves beside the platform itself. */
export interface SupervisorExtension {
  /** Handles a request to the control API; false when the route belongs to another extension. */
  handle(route: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** What it does to the platform now; the supervisor does not end for idleness meanwhile. */
  activeFaults(): readonly ActiveFault[];
  activeDrill?(): ActiveDrill | undefined;
  /** Why it does not let operators do this now. */
  obstacleTo?(operation: PlatformOperation): CliError | undefined;
  /** Takes everything back before the platform ends. */
  end(): Promise<void>;
}

/** Replicas of other releases. */
export type FleetControl = Pick<
  Platform,
  'admit' | 'fleetOf' | 'releaseOf' | 'stage' | 'weigh' | 'replace' | 'unstage' | 'adopt'
>;

/** What an extension may use. */
export interface ExtensionContext {
  readonly project: Project;
  readonly events: EventLog;
  state(): PlatformState;
  /** Resolves when done and ready. */
  act(service: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  /** What operators can ask for, with its lines in the change log. */
  readonly operator: {
    act(service: string, action: 'start' | 'stop' | 'restart', asked: Asked): Promise<void>;
    operate(operation: OperationRequest, options: OperationOptions): Promise<OperationResult>;
  };
  /**
   * Changes conditions under which a service's instances, one instance or a component start from now on. Those that `change` does
   * not name stay, which belong to another fault.
   */
  changeConditions(name: string, change: StartConditions): void;
  /** Which release each replica of a service runs, and its share of the calls. */
  readonly fleet: FleetControl;
  /** Stops and starts what is kept running; resolves when that has begun. */
  relaunch(name: string): Promise<void>;
  /** Disconnects every sender and reader of telemetry, or admits them again. */
  setTelemetryUnavailable(isUnavailable: boolean): void;
  /** Replaces the supervisor's own metrics. */
  takeMetrics(report: MetricsData): void;
  /** Serves these routes on the telemetry address, also while telemetry is unavailable. */
  serve(guest: Guest): void;
  /** Call when `activeFaults` or `activeDrill` has changed. */
  onChange(): void;
}

/** Several extensions as one: they are asked in this order, and end in the opposite one. All of them end, whatever fails. */
export function combineExtensions(extensions: readonly SupervisorExtension[]): SupervisorExtension {
  return {
    async handle(route, request, response) {
      for (const extension of extensions) if (await extension.handle(route, request, response)) return true;
      return false;
    },
    obstacleTo(operation) {
      for (const extension of extensions) {
        const obstacle = extension.obstacleTo?.(operation);
        if (obstacle !== undefined) return obstacle;
      }
      return undefined;
    },
    activeDrill: () => extensions.map((extension) => extension.activeDrill?.()).find((drill) => drill !== undefined),
    activeFaults: () => extensions.flatMap((extension) => extension.activeFaults()),
    async end() {
      const problems: unknown[] = [];
      for (const extension of extensions.toReversed()) await extension.end().catch((error) => problems.push(error));
      if (problems.length > 0) throw new AggregateError(problems, problems.map(messageOf).join('; '));
    },
  };
}
