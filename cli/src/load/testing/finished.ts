import type { OrderRecord } from '../../../../scenarios/lib/record.ts';
import type { Finished } from '../finished.ts';
import { UsageMeter } from '../usage.ts';

/** A run of ten seconds with these records, in which nothing else was measured. */
export function aFinishedRun(sent: readonly OrderRecord[], changes: Partial<Finished> = {}): Finished {
  return {
    observer: { records: sent, usage: new UsageMeter(), backlogs: [], gaps: () => [], stop: async () => undefined },
    backlogs: [],
    startedAt: 0,
    endedAt: 10_000,
    exitCode: 0,
    summary: { thresholds: [], dropped: 0, vusMax: undefined },
    messages: '',
    others: [],
    cutAt: undefined,
    records: sent,
    window: { faults: [], checks: [], notReverted: [] },
    drained: 'not looked at',
    sampled: [],
    audited: { report: 'not made', repeatedKeys: [], sagas: {} },
    tookMs: 0,
    ...changes,
  };
}
