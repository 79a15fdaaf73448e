import { describe, expect, it } from 'vitest';
import { createStyle } from '../output/style.ts';
import { measure, measurePhases } from './measured.ts';
import { renderLoad } from './render.ts';
import type { LoadResult } from './result.ts';
import { records, timedOut } from './testing/records.ts';
import { renderLoadJunit } from './write-reports.ts';

const phase = { name: 'whole', startS: 0, durationS: 10, rate: 10, vus: 5, demands: 'expected' } as const;
const sent = [...records(95, 10), ...records(100, 10, { ...timedOut, tookMs: 11_000 }).slice(95)];

const result: LoadResult = {
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
      kind: 'threshold',
      name: 'order_expected{phase:whole} rate>=0.99',
      outcome: 'failed',
      evidence: '95 % (95 of 100)',
    },
    { kind: 'audit', name: 'I1 every order has ended', outcome: 'ok', evidence: '100 orders' },
    { kind: 'trace', name: 'sampled traces', outcome: 'unknown', evidence: 'none <fit>' },
  ],
  notJudged: ['how memory grew: it was not measured'],
  remains: [],
  gaps: ['the outbox: refused'],
};

describe('the summary as text', () => {
  const text = renderLoad(result, createStyle({ enabled: false }));

  it('has rate, latency, errors by code, outbox and CPU', () => {
    expect(text).toContain('100 requests');
    expect(text).toMatch(/whole {2}10 +100 +9\.5 +95\.00 % +50 ms +50 ms +11\.0 s +11\.0 s +0/);
    expect(text).toContain('errors: 5 timeout');
    expect(text).toContain('outbox: peak 12 events, drained in 340 ms');
    expect(text).toMatch(/orders-1 +92\.0 % +99\.0 % +9\.00/);
  });

  it('has the memory of a process that hardly worked, and no process without either', () => {
    expect(text).toMatch(/toxiproxy {2}0\.1 % +1\.0 % +0\.01 +16 MB -> 32 MB +1\.00 MB\/min/);
    expect(text).not.toContain('k6 ');
  });

  it('has a line per check, what could not be read, and the verdict at the end', () => {
    expect(text).toContain('FAIL    threshold order_expected{phase:whole} rate>=0.99: 95 % (95 of 100)');
    expect(text).toContain('unknown trace     sampled traces: none <fit>');
    expect(text).toContain('not judged: how memory grew: it was not measured');
    expect(text).toContain('could not be read for a while: the outbox: refused');
    expect(text.endsWith('fail: 1 of 3 checks held, 12.0 s')).toBe(true);
  });

  it('tells the knee of a ramp and what was busy there', () => {
    const knee = {
      sustainedPerSecond: 40,
      p95Ms: 90.4,
      saturatedAtPerSecond: 60,
      because: 'p95 was 1500 ms, above 1000 ms',
      highestPerSecond: 52,
      busiest: ['orders-1 97 %'],
    };
    expect(renderLoad({ ...result, knee }, createStyle({ enabled: false }))).toContain(
      'knee: 40 orders/s (p95 90 ms)\n  at 60/s p95 was 1500 ms, above 1000 ms\n  at the most 52 orders/s were confirmed\n  busiest then: orders-1 97 %',
    );
  });
});

describe('JUnit', () => {
  it('has a case per check; missing evidence is an error, no pass', () => {
    const xml = renderLoadJunit(result);
    expect(xml).toContain('<testsuite name="load steady" tests="3" failures="1" errors="1"');
    expect(xml).toContain('<property name="seed" value="1"/>');
    expect(xml).toContain('<testcase classname="load.steady.trace" name="sampled traces"');
    expect(xml).toContain('message="none &lt;fit&gt;"');
  });
});
