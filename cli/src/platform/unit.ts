import type { Running } from '../process/running.ts';
import type { RunningRelease } from './health-probe.ts';

/** What faults change about every start of an instance while they last; undefined is the usual condition. */
export interface StartConditions {
  /** Added to the environment of a service. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long the start is delayed, ms. */
  readonly delayMs?: number | undefined;
}

/** One instance the supervisor runs: a replica of a service, or a component. */
export interface Unit {
  /** `orders-1`, `rabbitmq`. */
  readonly name: string;
  /** `orders`, `rabbitmq`. */
  readonly service: string;
  readonly kind: 'service' | 'component';
  /** Units that must run when this one runs, and stop after it. */
  readonly dependsOn: readonly string[];
  /** Those of them that must be ready before this one is started. */
  readonly waitsFor: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly url?: string;
  readonly provider?: string;
  readonly detail?: string;
  readonly address?: { readonly host: string; readonly port: number };
  readonly info?: Readonly<Record<string, string | number>>;
  /** `127.0.0.1:9229`: where a debugger attaches, which it waits for. */
  readonly inspector?: string;
  readonly logFile: string;
  /** Changes when the unit must be restarted to be what the plan says (environment, bundle). Holds no secret. */
  readonly fingerprint: string;
  /** The part of it that changes with the bundle or image of a service. */
  readonly code?: string;
  /** Nothing needs it, and a plan for a part of the platform has it too: where it is not planned, it is not wanted. */
  readonly isExtra?: boolean;
  /** What runs under this name and is of the same kind can go on until this one is ready; absent: it must end first. */
  readonly beside?: string;
  /** Idempotent work before the first start. */
  prepare?(): Promise<void>;
  start(conditions: StartConditions): Promise<Running>;
  /** It is not kept running any more; called before its process is asked to end. What it holds between two processes ends. */
  leave?(): void;
  /** Resolves when it serves; rejects with the reason while it does not. */
  probe(signal: AbortSignal): Promise<void>;
  /** What it said at its last probe that it runs; services only. */
  release?(): RunningRelease;
  /** Idempotent work each time it serves after a start, before others may use it. */
  setUp?(): Promise<void>;
  /** Applies to what runs what changed since its setUp; resolves with what that was: `migration orders/0007_refunds`. */
  refresh?(): Promise<readonly string[]>;
  /** Idempotent work once it is stopped and not planned any more. */
  dispose?(): Promise<void>;
}
