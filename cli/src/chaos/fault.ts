import type { Static, TObject } from 'typebox';
import type { CliError } from '../errors.ts';
import type { World } from './world.ts';

/** What a fault acts through. */
export type FaultKind = 'toxic' | 'proxy' | 'process' | 'database' | 'broker' | 'telemetry' | 'failpoint';

/**
 * What a fault can be aimed at: an edge's proxy, a process (of a service or a component), a service or one of its
 * instances, a service's database (named by its edge), the broker, the telemetry receiver, a service with failpoints.
 */
export type Scope = 'edge' | 'process' | 'instance' | 'database' | 'broker' | 'telemetry' | 'service';

/** What was measured where the fault acts. */
export interface Witness {
  /**
   * `seen`: measurably there. `absent`: it was looked for and is not there. `pending`: it waits for something to happen
   * (a failpoint for its hit). `unmeasurable`: it cannot be told with these parameters; the evidence says why.
   */
  readonly verdict: 'seen' | 'absent' | 'pending' | 'unmeasurable';
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
}

/**
 * A fault as data. `Undo` is written to disk before the fault happens, so it is plain JSON and holds all that is needed
 * to take it back, also by another process and after the platform has ended.
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
  /** It is kept in the platform's data: what a killed supervisor left of it is taken back once the platform runs again. */
  readonly needsPlatform?: boolean;
  /** Longest time to take it back and see that it is gone, ms (default: see leases.ts). */
  readonly undoLimitMs?: number;
  /** Which of several places of a target it acts on, where it may act on more than one at a time. */
  placeOf?(parameters: Static<Schema>): string;
  /** Why this machine cannot have it whatever runs on it (exit code 3); undefined when it can. */
  hostObstacle?(host: Pick<World, 'libfaketime'>): Promise<CliError | undefined>;
  /** What parameters and target cannot be together, told without a platform. Throws CliError (2). */
  check?(injection: Pick<Injection<Static<Schema>>, 'target' | 'parameters'>): void;
  /** Looks, changes nothing; resolves with what would take the fault back. Throws CliError when it cannot be done. */
  prepare(injection: Injection<Static<Schema>>, world: World): Promise<Undo>;
  /** May be called again with the same undo, when a restarted Toxiproxy has forgotten it. */
  inject(injection: Injection<Static<Schema>>, undo: Undo, world: World): Promise<void>;
  witness(injection: Injection<Static<Schema>>, undo: Undo, world: World): Promise<Witness>;
  /** Whether what holds it still has it: asked there, not measured. Asked once, right before the fault is taken back. */
  isInPlace?(undo: Undo, world: World): Promise<boolean>;
  /** Why that is not asked of a fault that lasts. */
  readonly whyNotAsked?: string;
  /** Idempotent. */
  undo(undo: Undo, world: World): Promise<void>;
  /** Resolves with the evidence, measured on the data path, that it is gone; throws with what is still wrong. */
  verify(undo: Undo, world: World): Promise<string>;
}

/** A fault without its parameters' types, as catalog and leases hold it: parameters were checked at the door. */
// biome-ignore lint/suspicious/noExplicitAny: each fault's own types meet here; see `Fault`.
export type AnyFault = Fault<any, any>;

/** Checks a fault's own types where it is defined. */
export function defineFault<Schema extends TObject, Undo extends object>(fault: Fault<Schema, Undo>): AnyFault {
  return fault;
}
