import { faults } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';

/** How a fault is injected by default, or why the matrix leaves it out. */
type Strength = { readonly parameters: Readonly<Record<string, unknown>> } | { readonly leftOut: string };

/**
 * The one table of strengths: strong enough to be met by every order and to be measured by the fault's witness, and as long
 * as that: the fault lasts until the orders of its round were answered. Durations as they are written on the command line.
 */
const STRENGTHS: Readonly<Record<string, Strength>> = {
  // Longer than the longest attempt (payments, 2 s).
  latency: { parameters: { latency: '2500ms' } },
  bandwidth: { parameters: { rate: 1 } },
  slow_close: { parameters: { delay: '2s' } },
  timeout: { parameters: { timeout: '0ms' } },
  partition: { parameters: {} },
  reset_peer: { parameters: { timeout: '0ms' } },
  slicer: { parameters: { averageSize: 16, delay: '20ms' } },
  limit_data: { parameters: { bytes: 1 } },
  down: { parameters: {} },
  kill: { parameters: {} },
  term: { parameters: {} },
  restart: { parameters: {} },
  stop: { parameters: {} },
  pause: { parameters: {} },
  'slow-start': { parameters: { delay: '3s' } },
  clock: { leftOut: 'its target is restarted in order: what it held ends before, by the right clock; E32 is about it' },
  terminate: { parameters: {} },
  'hold-connections': { parameters: { connections: 1_000 } },
  lock: { parameters: {} },
  'read-only': { parameters: {} },
  fill: { parameters: {} },
  'disk-alarm': { parameters: {} },
  'memory-alarm': { parameters: {} },
  unbind: { leftOut: 'events published meanwhile are lost by definition: E05 expects that' },
  purge: { leftOut: 'it throws events away for good: only a redrive brings them back' },
  'telemetry-away': { leftOut: 'what a round is judged by is read from telemetry; E37 is about it' },
  failpoint: { leftOut: 'it is what holds the orders; E24 to E28 kill, fail and lose answers at each boundary' },
};

/** A fault with its default strength. */
export interface StrongFault {
  readonly fault: AnyFault;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Faults of the catalogue that the matrix injects, in its order. */
export const strongFaults: readonly StrongFault[] = faults.flatMap((fault) => {
  const strength = strengthOf(fault);
  return 'parameters' in strength ? [{ fault, parameters: strength.parameters }] : [];
});

/** Why a fault is left out, by its name. */
export const leftOut: ReadonlyMap<string, string> = new Map(
  faults.flatMap((fault) => {
    const strength = strengthOf(fault);
    return 'leftOut' in strength ? [[fault.name, strength.leftOut] as const] : [];
  }),
);

function strengthOf({ name }: AnyFault): Strength {
  const strength = STRENGTHS[name];
  if (strength === undefined) throw new Error(`the fault ${name} has no default strength`);
  return strength;
}
