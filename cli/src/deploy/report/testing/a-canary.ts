import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { evaluate } from '../../analysis/evaluate.ts';
import type { Evidence } from '../../analysis/evidence.ts';
import { drawBinomial, drawPoisson } from '../../analysis/random.ts';
import { theDefaultPlan } from '../../analysis/testing/plan.ts';
import { type JournalRecord, runsIn } from '../../run.ts';
import { rolloutAt, type Sample } from '../../samples.ts';

type RecordBody = JournalRecord extends infer R ? (R extends JournalRecord ? Omit<R, 'time' | 'run'> : never) : never;

const BEGAN = Date.parse('2026-11-24T09:00:00.000Z');
const PREFLIGHT_MS = 9_000;
const RATE = 50;
const release = (version: string) => ({
  version,
  folder: `dist/releases/orders/${version}`,
  digest: version,
  seededBugs: [],
  env: {},
});

/** What a deploy left on disk. */
export interface LeftOnDisk {
  readonly records: readonly JournalRecord[];
  readonly samples: readonly Sample[];
}

/** A canary of orders at 50 requests a second whose requests fail at this rate, decided by the functions that decide real ones. */
export function aCanary(
  id: string,
  { canaryBad, stableBad = 0.002 }: { canaryBad: number; stableBad?: number },
): LeftOnDisk {
  const random = mulberry32(7);
  const records: JournalRecord[] = [];
  const samples: Sample[] = [];
  const add = (ms: number, body: RecordBody) =>
    records.push({ time: new Date(BEGAN + ms).toISOString(), run: id, ...body } as JournalRecord);
  const state = (ms: number, name: Extract<RecordBody, { kind: 'state' }>['state']) =>
    add(ms, { kind: 'state', state: name });
  const weigh = (ms: number, step: number) => {
    const share = theDefaultPlan.steps[step - 1]?.share ?? 0;
    add(ms, { kind: 'weights', reason: 'step', step, share, weights: {} });
  };

  begin();
  let step = 1;
  for (let second = 1; ; second += 1) {
    const at = BEGAN + PREFLIGHT_MS + second * 1_000;
    const share = theDefaultPlan.steps[step - 1]?.share ?? 0;
    const look: Sample = {
      at,
      share,
      evidence: [outcomes(at, share, 'canary'), outcomes(at, share, 'stable')],
      guards:
        second === 1
          ? theDefaultPlan.guards.map((guard) => ({ guard, at, state: 'held', detail: 'as it should be' }))
          : [],
      missing: [],
      tests: { errors: 0, slow: 0, promotion: 0 },
    };
    const [run] = runsIn(records);
    if (run === undefined) throw new Error('there is no run');
    const verdict = evaluate(rolloutAt(run, [...samples, look], at), at);
    const { errors, slow, promotion } = verdict.tests;
    samples.push({
      ...look,
      tests: { errors: errors.logEvidence, slow: slow.logEvidence, promotion: promotion.logEvidence },
    });
    if (verdict.decision === 'hold') continue;
    add(at - BEGAN, { kind: 'verdict', at, verdict });
    if (verdict.decision === 'step') weigh(at - BEGAN, ++step);
    else return { records: [...records, ...end(at - BEGAN, verdict.decision)], samples };
  }

  function begin(): void {
    const canary = { plan: theDefaultPlan, onInconclusive: 'rollback', onFailure: 'rollback' } as const;
    add(0, {
      kind: 'planned',
      service: 'orders',
      strategy: 'canary',
      source: 'HEAD',
      from: '0.2.0-b1',
      to: '0.2.0-g2',
      keepMs: 60_000,
      asked: { by: { user: 'shop', source: 'command line' } },
      canary,
    });
    state(100, 'building');
    add(3_000, { kind: 'releases', from: release('0.2.0-b1'), to: release('0.2.0-g2') });
    state(3_000, 'preflight');
    add(8_000, {
      kind: 'step',
      text: '5 orders through orders-2 confirmed and 1 declined, each with the trace of its contract',
    });
    state(PREFLIGHT_MS, 'analysis');
    weigh(PREFLIGHT_MS, 1);
  }

  function outcomes(at: number, share: number, arm: 'canary' | 'stable'): Evidence {
    const requests = drawPoisson(random, RATE * (arm === 'canary' ? share : 1 - share));
    const bad = drawBinomial(random, requests, arm === 'canary' ? canaryBad : stableBad);
    return { at, arm, share, requests, bad, slow: drawBinomial(random, requests - bad, 0.05) };
  }

  function end(ms: number, decision: string): JournalRecord[] {
    const time = (later: number) => new Date(BEGAN + ms + later).toISOString();
    const to = (later: number, body: RecordBody) => ({ time: time(later), run: id, ...body }) as JournalRecord;
    if (decision === 'promote') {
      return [
        to(10, { kind: 'state', state: 'shifting' }),
        to(900, { kind: 'state', state: 'kept' }),
        to(60_900, { kind: 'state', state: 'done' }),
      ];
    }
    const cause = { kind: 'worse', text: 'failed requests: the canary is worse' } as const;
    return [
      to(10, { kind: 'state', state: 'rolling-back', cause }),
      to(700, { kind: 'state', state: 'rolled-back', cause }),
    ];
  }
}

/** A rolling deploy that was rolled back by its preflight: a trace was not as its contract. */
export function aRollingDeploy(id: string): readonly JournalRecord[] {
  const at = (ms: number, body: RecordBody) =>
    ({ time: new Date(BEGAN + ms).toISOString(), run: id, ...body }) as JournalRecord;
  const cause = {
    kind: 'guard',
    guard: 'trace-shape',
    text: 'the trace 4bf92f3577b34da6a3ce929d0e0e4736 is not as its contract: 1 not as expected',
    details: '  orders "POST /orders" (12 more)\n+   orders "SELECT orders.orders"',
  } as const;
  return [
    at(0, {
      kind: 'planned',
      service: 'orders',
      strategy: 'rolling',
      source: 'HEAD',
      from: '0.2.0-b1',
      to: '0.2.0-<script>',
      keepMs: 60_000,
      asked: { by: { user: 'shop', source: 'command line' }, reason: 'a test' },
    }),
    at(100, { kind: 'state', state: 'building' }),
    at(3_000, { kind: 'state', state: 'preflight' }),
    at(3_010, { kind: 'step', text: 'start 1 of orders beside the others' }),
    at(7_000, { kind: 'state', state: 'rolling-back', cause }),
    at(7_500, { kind: 'state', state: 'rolled-back', cause }),
  ];
}
