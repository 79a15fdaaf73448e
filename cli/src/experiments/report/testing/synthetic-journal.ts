/**
 * Journals of runs that never were: payments slow for a part of the time, orders beside it. Deterministic, of any size,
 * with any text in the places where a run's text stands.
 */
import type { RunVerdict } from '../../../shared/verdict.ts';
import type { JournalRecord, NewRecord, OrderPhase } from '../../journal-records.ts';

export interface JournalPlan {
  readonly orders?: number;
  readonly seconds?: number;
  /** `none`: the journal ends within the method, as after a kill. */
  readonly verdict?: RunVerdict | 'none';
  /** Put around every text that does not come from this program itself. */
  readonly text?: (plain: string) => string;
}

const STARTED = Date.parse('2026-11-21T16:15:00Z');

/** The records of one run, in the order in which they would have been written. */
export function syntheticJournal(plan: JournalPlan = {}): readonly JournalRecord[] {
  const { orders = 60, seconds = 60, verdict = 'fail', text = (plain: string) => plain } = plan;
  const fault = { fromMs: seconds * 250, toMs: seconds * 600 };
  const timed = [
    ...opening(text),
    ...methodRecords(fault, seconds * 1000, text),
    ...orderRecords(orders, seconds * 1000, fault, text),
    ...sampleRecords(seconds, fault),
    ...closing(seconds * 1000, fault, verdict, text),
  ];
  const sorted = timed.toSorted((a, b) => a.ms - b.ms);
  const kept = verdict === 'none' ? sorted.filter(({ ms }) => ms < (fault.fromMs + fault.toMs) / 2) : sorted;
  return kept.map(({ ms, record }) => ({ ...record, ms, at: new Date(STARTED + ms).toISOString() }) as JournalRecord);
}

interface Timed {
  readonly ms: number;
  readonly record: NewRecord;
}
type Text = (plain: string) => string;
interface Fault {
  readonly fromMs: number;
  readonly toMs: number;
}

function opening(text: Text): Timed[] {
  return [
    {
      ms: 0,
      record: {
        type: 'run',
        version: 2,
        runId: text('20261121-161500-E08-7'),
        experiment: {
          id: text('E08'),
          title: text('Payments slower than the attempt timeout'),
          why: text(
            'A slow dependency must not hold up its callers.\n\nWithout a breaker each order would wait for its budget.',
          ),
          tags: [text('payments'), text('network')],
        },
        file: text('chaos/payments/E08-payments-slow-above.yaml'),
        seed: 7,
        project: text('shop'),
        shopctl: '0.1.0',
        node: '24.21.0',
        seededBugs: [text('breaker-counts-402')],
      },
    },
    { ms: 5, record: { type: 'phase', phase: 'steady-before', state: 'begin' } },
    ...step({ name: text('an order is confirmed'), phase: 'steady-before', index: 0, from: 10, to: 420, text }),
    { ms: 430, record: { type: 'phase', phase: 'steady-before', state: 'end', verdict: 'pass' } },
  ];
}

function methodRecords(fault: Fault, endMs: number, text: Text): Timed[] {
  const lease = {
    id: '15fbad',
    fault: text('latency'),
    kind: 'toxic',
    target: text('orders-payments'),
    parameters: { stream: text('upstream'), latency: 5000, jitter: 0 },
    ttlMs: 60_000,
    status: 'active',
    since: new Date(STARTED + fault.fromMs).toISOString(),
  } as const;
  const seen = fault.fromMs + 180;
  return [
    { ms: 440, record: { type: 'phase', phase: 'method', state: 'begin' } },
    ...step({ name: text('payments slow'), kind: 'action', index: 0, from: fault.fromMs, to: seen + 5, text }),
    { ms: fault.fromMs + 12, record: { type: 'fault', step: text('payments slow'), state: 'injected', lease } },
    {
      ms: seen,
      record: {
        type: 'witness',
        step: text('payments slow'),
        leaseId: lease.id,
        verdict: 'observed',
        evidence: text('a canary got a response after 5,004 ms'),
      },
    },
    ...step({ name: text('cancelled, not hanging'), index: 1, from: seen + 10, to: seen + 4_600, text }),
    ...step({
      name: text('immediate responses with the breaker open'),
      index: 2,
      from: seen + 4_700,
      to: fault.toMs - 900,
      verdict: 'fail',
      text,
    }),
    ...step({ name: text('beside it'), kind: 'hold', index: 3, from: seen + 2_000, to: fault.toMs - 500, text }),
    ...['breaker.open', 'breaker.half-open'].map(
      (event, index): Timed => ({
        ms: seen + 4_400 + index * 5_000,
        record: { type: 'event', event, edge: text('orders-payments'), count: 1 },
      }),
    ),
    { ms: fault.toMs, record: { type: 'phase', phase: 'method', state: 'end', verdict: 'fail' } },
    {
      ms: fault.toMs + 40,
      record: {
        type: 'fault',
        step: text('payments slow'),
        state: 'reverted',
        lease: { ...lease, status: 'reverted' },
        evidence: text('a canary got a response after 1 ms'),
        tookMs: 40,
      },
    },
    { ms: fault.toMs + 50, record: { type: 'phase', phase: 'steady-after', state: 'begin' } },
    ...step({
      name: text('outbox drained'),
      phase: 'steady-after',
      index: 0,
      from: fault.toMs + 60,
      to: fault.toMs + 2_300,
      verdict: 'unknown',
      text,
    }),
    { ms: endMs - 1_500, record: { type: 'phase', phase: 'steady-after', state: 'end', verdict: 'unknown' } },
  ];
}

interface StepPlan {
  readonly name: string;
  readonly phase?: 'steady-before' | 'method' | 'steady-after';
  readonly kind?: 'action' | 'probe' | 'hold';
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly verdict?: 'pass' | 'fail' | 'unknown';
  readonly text: Text;
}

function step({ name, phase = 'method', kind = 'probe', index, from, to, verdict = 'pass', text }: StepPlan): Timed[] {
  const provider = kind === 'action' ? 'fault' : kind === 'hold' ? 'hold' : 'orders';
  const base = { type: 'step', phase, index, name, kind, provider } as const;
  return [
    { ms: from, record: { ...base, state: 'begin' } },
    {
      ms: to,
      record: {
        ...base,
        state: 'end',
        verdict,
        expected: text('each response in at most 300 ms'),
        observed: text(verdict === 'pass' ? 'p95 212 ms' : 'p95 4.52 s'),
        evidence: text('- stock POST /stock.Inventory/Release missing under order saga\n+ POST ×2 (retry)'),
        attempts: 3,
        tookMs: to - from,
        traceIds: [hex(index + 1), hex(index + 2)],
      },
    },
  ];
}

function orderRecords(count: number, endMs: number, fault: Fault, text: Text): Timed[] {
  const random = randomFrom(7);
  return Array.from({ length: count }, (_, index): Timed[] => {
    const op = index + 1;
    const placed = 500 + (index * (endMs - 3_000)) / Math.max(1, count);
    const phase: OrderPhase = placed < fault.fromMs ? 'before' : placed < fault.toMs ? 'fault' : 'after';
    const end =
      phase === 'fault' ? underFault(random(), placed - fault.fromMs, text) : confirmed(20 + 60 * random() ** 4);
    const base = { type: 'order', op, step: text('steady'), phase } as const;
    return [
      { ms: placed, record: { ...base, state: 'invoke', key: `7-${op}`, product: 1, quantity: 1 } },
      { ms: placed + (end.tookMs ?? 0), record: { ...base, ...end, traceId: hex(op) } },
    ];
  }).flat();
}

type End = Omit<Extract<NewRecord, { type: 'order' }>, 'type' | 'op' | 'step' | 'phase'>;

function confirmed(tookMs: number): End {
  return { state: 'ok', http: 201, status: 'Confirmed', orderId: '0192f0c4-9e5a-7bbb-8a55-0f3b7a3c9d11', tookMs };
}

/** First slow, then refused by the breaker; some responses are problems, some are missing. */
function underFault(draw: number, sinceMs: number, text: Text): End {
  const tookMs = sinceMs < 4_500 ? 4_200 + 300 * draw : 5 + 20 * draw;
  if (draw < 0.02) return { state: 'info', code: text('timeout'), tookMs: 12_000 };
  if (draw < 0.05) return { state: 'info', http: 504, code: text('orders_timeout'), tookMs: 9_500 };
  if (draw < 0.12) return { state: 'fail', http: 503, code: text('catalog_unavailable'), tookMs };
  if (draw < 0.2) return { state: 'ok', http: 200, status: 'Cancelled', reason: text('out of stock'), tookMs };
  return { state: 'ok', http: 200, status: 'Cancelled', reason: text('payment unavailable'), tookMs };
}

function sampleRecords(seconds: number, fault: Fault): Timed[] {
  return Array.from({ length: seconds }, (_, second): Timed => {
    const ms = second * 1000 + 30;
    if (second % 23 === 22 || second % 23 === 21) {
      return {
        ms,
        record: { type: 'sample', values: { inFlight: 0, perSecond: 0 }, gap: 'telemetry did not respond in 1 s' },
      };
    }
    const isFaulty = ms > fault.fromMs + 4_500 && ms < fault.toMs + 2_000;
    const waiting = isFaulty ? Math.round((ms - fault.fromMs) / 500) : 0;
    const breaker = isFaulty ? (second % 6 === 0 ? 1 : 2) : 0;
    return {
      ms,
      record: {
        type: 'sample',
        values: {
          pending: isFaulty ? 3 : second % 3,
          waiting,
          activeSagas: 1,
          inFlight: 2,
          perSecond: 1,
          breakers: { 'gateway-orders': 0, 'orders-catalog': 0, 'orders-payments': breaker, 'orders-stock': 0 },
          ready: { orders: 1 },
        },
      },
    };
  });
}

function closing(endMs: number, fault: Fault, verdict: RunVerdict | 'none', text: Text): Timed[] {
  const condition = { event: text('breaker.open'), edge: text('orders-payments') };
  return [
    { ms: endMs - 1_400, record: { type: 'phase', phase: 'audit', state: 'begin' } },
    {
      ms: endMs - 1_300,
      record: { type: 'reach', condition, verdict: 'pass', count: 1, evidence: text('0 to 1 in orders-1') },
    },
    {
      ms: endMs - 1_200,
      record: {
        type: 'never',
        condition: { event: 'process.exit' },
        verdict: 'unknown',
        evidence: text('the log of events has a gap'),
      },
    },
    {
      ms: endMs - 300,
      record: {
        type: 'audit',
        verdict: 'fail',
        orders: 60,
        tookMs: 800,
        invariants: [
          {
            id: 'I4',
            title: 'money',
            audited: 'pass',
            verdict: 'pass',
            evidence: text('60 orders, 3 charges'),
            violations: [],
            inFlight: 0,
          },
          {
            id: 'I7',
            title: 'one shipment per confirmed order',
            audited: 'fail',
            verdict: 'fail',
            evidence: text('59 shipments of 60'),
            violations: [
              { kind: 'lost', orderId: '0192f0c4-9e5a-7bbb-8a55-0f3b7a3c9d11', detail: text('no shipment') },
            ],
            inFlight: 0,
          },
          {
            id: 'I11',
            title: 'metrics',
            audited: 'unknown',
            verdict: 'pass',
            rule: 'accepted',
            evidence: text('orders was killed'),
            violations: [],
            inFlight: 2,
          },
        ],
      },
    },
    { ms: endMs - 250, record: { type: 'phase', phase: 'audit', state: 'end', verdict: 'fail' } },
    ...(verdict === 'none' ? [] : [verdictAt(endMs, fault, verdict, text)]),
  ];
}

const EXIT_CODES: Readonly<Record<RunVerdict, number>> = {
  pass: 0,
  fail: 1,
  unknown: 5,
  dirty: 6,
  interrupted: 130,
};

function verdictAt(ms: number, { fromMs, toMs }: Fault, verdict: RunVerdict, text: Text): Timed {
  return {
    ms,
    record: {
      type: 'verdict',
      verdict,
      exitCode: EXIT_CODES[verdict],
      reasons:
        verdict === 'pass'
          ? []
          : [
              text('immediate responses with the breaker open: p95 4.52 s, expected at most 300 ms'),
              text('I7: 59 shipments of 60'),
            ],
      clocks: {
        injectedMs: fromMs + 12,
        witnessedMs: fromMs + 180,
        firstSymptomMs: fromMs + 700,
        revertedMs: toMs + 40,
        steadyMs: toMs + 2_300,
        drainedMs: toMs + 3_100,
      },
      tookMs: ms,
    },
  };
}

/** 32 hexadecimal digits, different for each number. */
function hex(number: number): string {
  return number.toString(16).padStart(32, '4bf92f3577b34da6a3ce929d0e0e4736');
}

/** Numbers from 0 to 1, the same for the same seed (Park and Miller's minimal standard generator). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
