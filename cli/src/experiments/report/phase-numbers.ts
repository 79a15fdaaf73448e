import type { OutcomeTone } from '../../report/page-data.ts';
import { percentile } from '../../shared/statistics.ts';
import type { OrderReport } from './run-report.ts';

/** The orders placed before, under and after the faults, in numbers. Times in ms. */
export interface PhaseNumbers {
  readonly phase: string;
  readonly orders: number;
  readonly byTone: Readonly<Record<OutcomeTone, number>>;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly maxMs: number | undefined;
}

const ORDER = ['before', 'fault', 'after'];

export function phaseNumbers(orders: readonly OrderReport[]): readonly PhaseNumbers[] {
  const byPhase = Map.groupBy(orders, ({ phase }) => phase);
  const phases = [...byPhase.keys()].sort((a, b) => rank(a) - rank(b));
  return phases.map((phase) => numbersOf(phase, byPhase.get(phase) ?? []));
}

/** Phases of another name come last. */
function rank(phase: string): number {
  const index = ORDER.indexOf(phase);
  return index < 0 ? ORDER.length : index;
}

function numbersOf(phase: string, orders: readonly OrderReport[]): PhaseNumbers {
  const times = orders.flatMap(({ tookMs }) => tookMs ?? []);
  const count = (tone: OutcomeTone) => orders.filter((order) => order.tone === tone).length;
  return {
    phase,
    orders: orders.length,
    byTone: { good: count('good'), warn: count('warn'), bad: count('bad'), lost: count('lost') },
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    maxMs: percentile(times, 1),
  };
}
