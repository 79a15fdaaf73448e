import { faults } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { writeDurations } from '../../chaos/parameters.ts';

/** A fault as the matrix injects it. */
export interface MatrixFault {
  readonly fault: AnyFault;
  /** The fault's defaults, with durations as experiments write them. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Faults of the catalog that the matrix injects, in its order. */
export const matrixFaults: readonly MatrixFault[] = faults.flatMap((fault) => {
  const { defaults, parameters: schema } = fault;
  return 'parameters' in defaults ? [{ fault, parameters: writeDurations(schema, defaults.parameters) }] : [];
});

/** Why a fault is excluded, by its name. */
export const excludedFaults: ReadonlyMap<string, string> = new Map(
  faults.flatMap(({ name, defaults }) => ('excluded' in defaults ? [[name, defaults.excluded] as const] : [])),
);
