import type { Second } from '../customers.ts';
import { type Expected, parseExpected } from '../expected.ts';
import { type Firing, JOURNAL_VERSION, type MatrixStart, type PairRecord } from '../journal.ts';
import type { Pair } from '../pair.ts';

/** Alerts of the tests: two pages, a page that clears slowly, a ticket, a cause. */
const alerts: MatrixStart['alerts'] = [
  { alertname: 'Failing', severity: 'page' },
  { alertname: 'Stalled', severity: 'page' },
  { alertname: 'ShipmentsMissing', severity: 'page' },
  { alertname: 'Blind', severity: 'ticket' },
  { alertname: 'Explains', severity: 'cause' },
];

export const aPair = (fault: string, target = 'orders'): Pair => ({ fault, target, parameters: {} });

export function aStart(pairs: readonly Pair[]): MatrixStart {
  return {
    type: 'matrix',
    version: JOURNAL_VERSION,
    runId: '20261124-090000-matrix-1',
    startedAt: '2026-11-24T09:00:00.000Z',
    seed: 1,
    rate: 10,
    pairs,
    leftOut: 0,
    burns: [
      { symptom: 'failed', alert: 'Failing fast', share: 0.072, longS: 60, shortS: 10 },
      { symptom: 'slow', alert: 'Slow fast', share: 0.144, longS: 60, shortS: 10 },
    ],
    guard: { requests: 20, bad: 3 },
    alerts,
  };
}

/** 20 s without an error, then `failed` of ten orders a second for 45 s, then none for 20 s. */
export function secondsWith({ failed = 0, slow = 0 } = {}): readonly Second[] {
  const of = (count: number, second: Second) => Array.from({ length: count }, () => second);
  return [...of(20, [10, 9, 0, 0]), ...of(45, [10, 9, failed, slow]), ...of(20, [10, 9, 0, 0])];
}

/** A pair with its fault from 20 s to 65 s; customers are not hit unless it says otherwise. */
export function aRecord(pair: Pair, more: Partial<PairRecord> = {}): PairRecord {
  return {
    type: 'pair',
    pair,
    platform: 'shop-chaos',
    startedAt: '2026-11-24T09:00:00.000Z',
    injectedMs: 20_000,
    revertedMs: 65_000,
    endedMs: 85_000,
    seconds: secondsWith(),
    shipments: { confirmed: 600, late: 0, missing: 0 },
    firings: [],
    problems: [],
    notReverted: [],
    ...more,
  };
}

/** Of an outage. */
export const outage = { seconds: secondsWith({ failed: 9 }) };

/** Seconds after the injection, and after the revert; `null`: it still fires. */
export function aFiring(alertname: string, firedS: number, clearedS: number | null = 5, burn?: string): Firing {
  return {
    alertname,
    severity: alerts.find((one) => one.alertname === alertname)?.severity ?? 'none',
    ...(burn !== undefined && { burn }),
    firedMs: 20_000 + firedS * 1_000,
    ...(clearedS !== null && { resolvedMs: 65_000 + clearedS * 1_000 }),
  };
}

/** One group with these pairs. */
export function expecting(
  pairs: readonly Pair[],
  lists: Partial<Record<'must' | 'may' | 'must-not', readonly string[]>>,
): Expected {
  const group = {
    name: 'a group',
    why: 'because',
    pairs: pairs.map(({ fault, target }) => ({ faults: [fault], targets: [target] })),
    ...lists,
  };
  const text = JSON.stringify({ version: 'shop.alerts/v1', groups: [group] });
  const { expected, problems } = parseExpected(text, { pairs, alerts: alerts.map(({ alertname }) => alertname) });
  if (expected === undefined) throw new Error(JSON.stringify(problems));
  return expected;
}
