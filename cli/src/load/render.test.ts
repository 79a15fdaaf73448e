import { describe, expect, it } from 'vitest';
import { renderJunitSuites } from '../output/junit.ts';
import { createStyle } from '../output/style.ts';
import { renderLoad } from './render.ts';
import { aResult as result } from './testing/result.ts';
import { suiteOf } from './write-reports.ts';

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
    expect(text).toContain('not checked: how memory grew: it was not measured');
    expect(text).toContain('could not be read for a while: the outbox: refused');
    expect(text.endsWith('fail: 1 of 3 checks passed, 1 failed, 1 unknown, 12.0 s')).toBe(true);
  });

  it('says where no fault was ever in effect', () => {
    const fault = {
      target: 'orders-broker',
      fault: 'down',
      parameters: {},
      from: null,
      to: null,
      evidence: 'not injected',
    };
    const textOf = (...inEffect: boolean[]) =>
      renderLoad(
        { ...result, faults: inEffect.map((one) => ({ ...fault, inEffect: one })) },
        createStyle({ enabled: false }),
      );
    expect(textOf(false, false)).toContain(
      'fault: down on orders-broker for -: not injected\nno fault was ever in effect',
    );
    expect(textOf(false, true)).not.toContain('ever in effect');
    expect(textOf()).not.toContain('ever in effect');
  });

  it('prints the knee of a ramp and what was busy there', () => {
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
    const xml = renderJunitSuites([suiteOf(result)]);
    expect(xml).toContain('<testsuite name="load steady" tests="3" failures="1" errors="1"');
    expect(xml).toContain('<property name="seed" value="1"/>');
    expect(xml).toContain('<testcase classname="load.steady.trace" name="sampled traces"');
    expect(xml).toContain('message="none &lt;fit&gt;"');
  });
});
