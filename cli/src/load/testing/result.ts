import type { PageData } from '../../report/page-data.ts';
import { measure, measurePhases } from '../measured.ts';
import type { LoadResult } from '../result.ts';
import { records, timedOut } from './records.ts';

const phase = { name: 'whole', startS: 0, durationS: 10, rate: 10, vus: 5, demands: 'expected' } as const;
const sent = [...records(95, 10), ...records(100, 10, { ...timedOut, tookMs: 11_000 }).slice(95)];

/** Two seconds of a run, with one response. */
export const aTimeline: PageData = {
  durationMs: 1_500,
  outcomes: [{ label: '201 Confirmed', tone: 'good', glyph: 0 }],
  orders: { placedMs: [100], tookMs: [50], outcome: [0] },
  seconds: { p50: [50, null], p95: [50, null], responses: [[1, 0]], pending: [1, 0], waiting: [0, 0] },
  happenings: [{ label: 'phase', spans: [{ fromMs: 0, toMs: 1_500, label: 'whole', tone: 'plain' }] }],
  breakers: [],
  faults: [],
  phases: [{ fromMs: 0, toMs: 1_500, label: 'whole', tone: 'plain' }],
  usage: [{ label: 'all cores', percent: [60, 40] }],
};

/** A steady load of ten seconds that failed: five requests ran out of time. */
export const aResult: LoadResult = {
  scenario: 'steady',
  runId: 'load-1',
  verdict: 'fail',
  exitCode: 1,
  settings: { rate: 10, durationS: 10, vus: 5, seed: 1 },
  startedAt: '2026-01-02T03:04:05.000Z',
  tookMs: 12_000,
  orders: measure(sent, 10),
  phases: measurePhases([phase], sent, 1),
  outbox: { peak: 12, drainMs: 340 },
  sagas: { Confirmed: 93, 'Cancelled: out of stock': 2 },
  usage: {
    machine: { cores: 2, averagePercent: 60, peakPercent: 90, othersPercent: 2 },
    processes: [
      { name: 'orders-1', cpuMs: 900, averagePercent: 92, peakPercent: 99, cpuMsPerRequest: 9, memory: null },
      { name: 'k6', cpuMs: 1, averagePercent: 0.1, peakPercent: 1, cpuMsPerRequest: 0.01, memory: null },
      {
        name: 'toxiproxy',
        cpuMs: 1,
        averagePercent: 0.1,
        peakPercent: 1,
        cpuMsPerRequest: 0.01,
        memory: {
          firstBytes: 2 ** 24,
          lastBytes: 2 ** 25,
          slopeBytesPerMinute: 2 ** 20,
          slopeMinutes: 2,
          restarts: 0,
          unseenMinutes: 0,
        },
      },
    ],
  },
  knee: null,
  faults: [],
  traces: [],
  audit: null,
  checks: [
    {
      group: 'threshold',
      name: 'order_expected{phase:whole} rate>=0.99',
      verdict: 'fail',
      evidence: '95 % (95 of 100)',
    },
    { group: 'audit', name: 'I1 every order has ended', verdict: 'pass', evidence: '100 orders' },
    { group: 'trace', name: 'sampled traces', verdict: 'unknown', evidence: 'none <fit>' },
  ],
  notChecked: ['how memory grew: it was not measured'],
  notReverted: [],
  gaps: ['the outbox: refused'],
};
