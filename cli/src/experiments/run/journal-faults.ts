import type { FaultChange, FaultListener } from '../../chaos/fault-session.ts';
import type { Journal } from '../journal.ts';

/** Writes what becomes of a run's faults into its journal. */
export function journalFaults(journal: Journal): FaultListener {
  return {
    onChange: (change) => writeChange(journal, change),
    onTrouble: (event, details) => journal.write({ type: 'event', event, details }),
  };
}

function writeChange(journal: Journal, { step, state, lease }: FaultChange): void {
  const { id, fault, kind, target, parameters, ttlMs, status, since, end, problem } = lease;
  const evidence = end === undefined ? problem : `${end.why}: ${end.evidence}`;
  journal.write({
    type: 'fault',
    step,
    state,
    lease: { id, fault, kind, target, parameters, ttlMs, status, since },
    ...(evidence !== undefined && { evidence }),
    ...(end !== undefined && { tookMs: end.tookMs }),
  });
}
