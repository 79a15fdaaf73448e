import { aStart } from '../../testing/records.ts';
import { SILENT_VERSION, type SilentStart, type SituationRecord } from '../journal.ts';
import type { Situation } from '../situations.ts';

export const aSituation = (name: string): Situation => ({ name, parts: [{ forMs: 60_000, rate: 10 }] });

export function aSilentStart(situations: readonly Situation[], leftOut: readonly string[] = []): SilentStart {
  const { startedAt, seed, burns, guard } = aStart([]);
  const runId = '20261124-090000-silent-1';
  return {
    type: 'silent',
    version: SILENT_VERSION,
    runId,
    startedAt,
    seed,
    scale: 1,
    situations,
    leftOut,
    burns,
    guard,
  };
}

/** A minute of orders without an error or an alert. */
export function aSituationRecord(name: string, more: Partial<SituationRecord> = {}): SituationRecord {
  return {
    type: 'situation',
    situation: aSituation(name),
    platform: 'shop-chaos',
    startedAt: '2026-11-24T09:00:00.000Z',
    endedMs: 80_000,
    orders: 600,
    seconds: Array.from({ length: 60 }, () => [10, 9, 0, 0] as const),
    shipments: { confirmed: 400, late: 0, missing: 0 },
    firings: [],
    problems: [],
    ...more,
  };
}
