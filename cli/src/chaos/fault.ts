import type { Static, TObject } from 'typebox';
import type { CliError } from '../errors.ts';
import type { PlatformAccess } from './platform-access.ts';

/** What a fault acts through. */
export type FaultKind = 'toxic' | 'proxy' | 'process' | 'database' | 'broker' | 'telemetry' | 'failpoint';

/**
 * What a fault can be aimed at: an edge's proxy, a process, a service or one of its instances. Also a service's
 * database (named by its edge), the broker, the telemetry receiver, and a service with failpoints.
 */
export type Scope = 'edge' | 'process' | 'instance' | 'database' | 'broker' | 'telemetry' | 'service';

/** What was measured where the fault acts. */
export interface Witness {
  /**
   * `observed`: measurably in effect. `not_observed`: measurably not in effect. `pending`: it waits for an event (a
   * failpoint for its hit). `unmeasurable`: not measurable with these parameters; the evidence says why.
   */
  readonly verdict: 'observed' | 'not_observed' | 'pending' | 'unmeasurable';
  /** The measurement, for people. */
  readonly evidence: string;
}

/** Parameters by their names; durations in ms. */
type Values<Parameters> = Parameters & Readonly<Record<string, unknown>>;

/** How the matrix of faults and failpoints injects a fault, or why it is excluded from the matrix. */
export type FaultDefaults<Parameters> = { readonly parameters: Values<Parameters> } | { readonly excluded: string };

/** One injection: what, where, how. */
export interface Injection<Parameters = Readonly<Record<string, unknown>>> {
  /** Of the lease; names what the fault leaves behind (a toxic, a database session). */
  readonly id: string;
  readonly target: string;
  readonly parameters: Parameters;
  /** Of a drill: what it leaves must not say that it is a fault. */
  readonly hidden?: boolean;
}

/**
 * A fault as data. `Undo` is written to disk before the fault happens. It is plain JSON and has all that is needed to
 * revert the fault, also by another process and after the platform has ended.
 */
export interface Fault<Schema extends TObject = TObject, Undo extends object = object> {
  readonly name: string;
  readonly kind: FaultKind;
  readonly scope: Scope;
  /** What it does, one sentence. */
  readonly title: string;
  /** Each property is an option of `chaos inject` (`averageSize`: `--average-size`), with its description as help text. */
  readonly parameters: Schema;
  /** Strong enough that every order meets it and its witness observes it, while the orders of a round last. */
  readonly defaults: FaultDefaults<Static<Schema>>;
  /** What `watch` offers to pick. Default: one without parameters. Empty: hidden from its picker. */
  readonly presets?: readonly Values<Static<Schema>>[];
  /** It happens once and nothing lasts: its lease ends as soon as the platform has recovered. */
  readonly isMomentary?: boolean;
  /** Nothing of it is left once the platform's processes have ended. */
  readonly endsWithPlatform?: boolean;
  /** It is kept in the platform's data: one of a killed supervisor is reverted once the platform runs again. */
  readonly needsPlatform?: boolean;
  /** Longest time to revert it and verify that, ms (default: see leases.ts). */
  readonly undoLimitMs?: number;
  /** Which of several places of a target it acts on, where it may act on more than one at a time. */
  placeOf?(parameters: Static<Schema>): string;
  /** Why the fault is not available on this machine (exit code 3); undefined when it is. */
  hostObstacle?(host: Pick<PlatformAccess, 'libfaketime'>): Promise<CliError | undefined>;
  /** Checks combinations of parameters and target without a platform. Throws CliError (2). */
  check?(injection: Pick<Injection<Static<Schema>>, 'target' | 'parameters'>): void;
  /** Reads only; resolves with the undo. Throws CliError when the fault cannot be injected. */
  prepare(injection: Injection<Static<Schema>>, platform: PlatformAccess): Promise<Undo>;
  /** May be called again with the same undo, when a restarted Toxiproxy has forgotten it. */
  inject(injection: Injection<Static<Schema>>, undo: Undo, platform: PlatformAccess): Promise<void>;
  witness(injection: Injection<Static<Schema>>, undo: Undo, platform: PlatformAccess): Promise<Witness>;
  /** Whether its server still has it, by asking, not by measuring. Asked once, right before the fault is reverted. */
  isInPlace?(undo: Undo, platform: PlatformAccess): Promise<boolean>;
  /** Why that is not asked of a fault that lasts. */
  readonly whyNotAsked?: string;
  /** Idempotent. */
  undo(undo: Undo, platform: PlatformAccess): Promise<void>;
  /** Resolves with evidence, measured on the data path, that the fault is gone; throws with what is still wrong. */
  verify(undo: Undo, platform: PlatformAccess): Promise<string>;
}

/** A fault without its parameters' types, as catalog and leases have it: parameters were checked before. */
// biome-ignore lint/suspicious/noExplicitAny: each fault's own types meet here; see `Fault`.
export type AnyFault = Fault<any, any>;

/** Checks a fault's own types where it is defined. */
export function defineFault<Schema extends TObject, Undo extends object>(fault: Fault<Schema, Undo>): AnyFault {
  return fault;
}
