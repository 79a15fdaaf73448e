import { CliError } from '../errors.ts';
import type { Instance } from './instance.ts';
import type { Unit } from './unit.ts';

/** An instance that goes on until the unit that replaces it is ready. */
export interface Succession<T = Instance> {
  readonly instance: T;
  readonly unit: Unit;
}

/** Of instances that are replaced by these units: those that go on meanwhile, and those that must end first. Pure. */
export function splitSuccessions<T extends Pick<Instance, 'status' | 'unit'>>(
  instances: readonly T[],
  units: ReadonlyMap<string, Unit>,
): { readonly successions: readonly Succession<T>[]; readonly others: readonly T[] } {
  const successions = instances.flatMap((instance) => {
    const unit = units.get(instance.unit.name);
    // One that is not ready because of what it depends on still holds connections, whose requests may be served.
    const isRunning = instance.status === 'ready' || instance.status === 'unready';
    const canGoOn = unit?.beside !== undefined && unit.beside === instance.unit.beside && isRunning;
    return canGoOn ? [{ instance, unit }] : [];
  });
  return { successions, others: instances.filter((one) => !successions.some(({ instance }) => instance === one)) };
}

/** The failure of a successor, when what it was to replace goes on. */
export function notReplaced(name: string, error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const { code, why, next } = error;
  return new CliError({
    code,
    what: `the new process of ${name} is not ready`,
    ...(why !== undefined && { why }),
    next: `${next === undefined ? '' : `${next}; `}the old one goes on serving`,
    cause: error,
  });
}
