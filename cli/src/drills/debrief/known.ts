import type { DrillRecord } from '../journal/records.ts';
import { recordsOf } from '../journal/records.ts';
import type { Round } from '../score/round.ts';

/** Where the truth could be seen, from when on, and when the trainee looked there. Times in ms since the start. */
export interface Known {
  readonly stage: string;
  readonly where: string;
  readonly look: string;
  /** Undefined: it never came, or there was nothing to see. */
  readonly sinceMs?: number;
  /** The first look at this source after that. */
  readonly lookedMs?: number;
}

/** What could be known when, from a journal alone. Pure. */
export function knownOf({ records, scenario, clocks, noticed, symptom, isWithoutFailure }: Round): readonly Known[] {
  const firstMetric = noticed.find(({ kinds }) => kinds.has('metric'))?.second.ms;
  const visibleMs = (where: string, look: string): number | undefined => {
    // That nothing is wrong can be seen all the time.
    if (isWithoutFailure) return 0;
    if (where === 'pages') return firstPage(records, look);
    if (where === 'metrics') return firstMetric ?? symptom?.second.ms;
    if (where === 'orders' || where === 'traces') return symptom?.second.ms;
    return clocks.injectedMs;
  };
  return scenario.clues.map(({ stage, where, look }): Known => {
    const sinceMs = visibleMs(where, look);
    const lookedMs = sinceMs === undefined ? undefined : firstLook(records, where, sinceMs);
    return {
      stage,
      where,
      look,
      ...(sinceMs !== undefined && { sinceMs }),
      ...(lookedMs !== undefined && { lookedMs }),
    };
  });
}

/** Of the alert that the clue names; of any where it names none. */
function firstPage(records: readonly DrillRecord[], look: string): number | undefined {
  const firing = recordsOf(records, 'page').filter(({ state }) => state === 'firing');
  return (firing.find(({ alert }) => look.includes(alert)) ?? firing[0])?.ms;
}

/** An acknowledgement is a look at the pages. */
function firstLook(records: readonly DrillRecord[], where: string, sinceMs: number): number | undefined {
  return records.find(
    (record) =>
      record.ms >= sinceMs &&
      ((record.type === 'look' && record.source === where) || (where === 'pages' && record.type === 'ack')),
  )?.ms;
}
