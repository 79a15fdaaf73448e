import type { FailpointName } from '@shop/kit/failpoint-names.ts';
import type { SagaPorts } from '../saga/interpreter.ts';
import type { CompensationName, Saga, StepName, StepOutcome } from '../saga/saga.ts';

/** What the ports return; what is not scripted succeeds. */
export interface Script {
  /** Outcomes by step; an Error is thrown. */
  readonly steps?: Partial<Record<StepName, StepOutcome | Error>>;
  /** How often each compensation fails before it succeeds. */
  readonly failures?: Partial<Record<CompensationName, number>>;
  /** The process crashes when one of these is reached for the first time; saves and effects before it stay. */
  readonly crashAt?: ReadonlySet<FailpointName<'orders'>>;
  /** Number of the save (from 1) from which on another owns the row. */
  readonly fencedFromSave?: number;
  /** Number of the save (from 1) without a response of the database. */
  readonly failingSave?: number;
}

export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Ports over one row in memory; `did` is what had an effect, in order. */
export function scriptedPorts(row: Saga, script: Script = {}) {
  const did: string[] = [];
  const decided: string[] = [];
  const crashes = new Set(script.crashAt ?? []);
  const failures = new Map(Object.entries(script.failures ?? {}));
  let stored = row;
  let saves = 0;

  function save(before: Saga, after: Saga, what: string): boolean {
    saves += 1;
    if (script.failingSave === saves) throw new Error('no response from the database');
    if (script.fencedFromSave !== undefined && saves >= script.fencedFromSave) return false;
    if (before.version !== stored.version) return false;
    stored = after;
    did.push(`${what} ${after.state}`);
    return true;
  }

  const ports: SagaPorts = {
    async run(step) {
      did.push(step.name);
      const outcome = script.steps?.[step.name] ?? { kind: 'done' };
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    async compensate({ compensation: name }) {
      const left = failures.get(name) ?? 0;
      failures.set(name, left - 1);
      did.push(left > 0 ? `${name} failed` : name);
      if (left > 0) throw new Error('unavailable');
    },
    save: async (before, after) => save(before, after, 'save'),
    confirm: async (before, after) => save(before, after, 'confirm'),
    decided: (saga) => void decided.push(`${saga.state} ${saga.reason ?? ''}`.trim()),
    async reached(boundary) {
      if (crashes.delete(boundary)) throw new Crash(boundary);
    },
  };
  return {
    ports,
    did,
    decided,
    get stored() {
      return stored;
    },
  };
}
