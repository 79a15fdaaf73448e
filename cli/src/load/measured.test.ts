import { describe, expect, it } from 'vitest';
import { measure, measurePhases, throughputOf } from './measured.ts';
import { aRecord, records, timedOut } from './testing/records.ts';

describe('measure', () => {
  it('counts responses, times and outcomes; what got no response is not a response', () => {
    const sent = [
      ...records(98, 10),
      aRecord({ http: 200, status: 'Cancelled', reason: 'payment declined', tookMs: 60 }),
      aRecord({ ...timedOut, tookMs: 11_000 }),
    ];
    expect(measure(sent, 10)).toEqual({
      sent: 100,
      responded: 99,
      expected: 99,
      perSecond: 9.9,
      latencyMs: { p50: 50, p95: 50, p99: 60, max: 11_000 },
      outcomes: { '201 Confirmed': 98, '200 Cancelled: payment declined': 1, timeout: 1 },
      errors: { timeout: 1 },
    });
  });

  it('names an error by its code, by the reason, or by what it is', () => {
    const wrong = { expected: false, orderId: undefined, status: undefined };
    const sent = [
      aRecord({ ...wrong, http: 503, code: 'overloaded' }),
      aRecord({ ...wrong, http: 200, status: 'Cancelled', reason: 'payment unavailable' }),
      aRecord({ ...wrong, http: 502 }),
      aRecord({ expected: false, http: 201 }),
    ];
    expect(measure(sent, 1).errors).toEqual({
      overloaded: 1,
      'payment unavailable': 1,
      'http 502': 1,
      'unexpected Confirmed': 1,
    });
  });

  it('of nothing has no times', () => {
    expect(measure([], 0)).toMatchObject({ sent: 0, perSecond: 0, latencyMs: { p50: null, max: null } });
  });
});

describe('a phase', () => {
  const phase = { name: 'whole', startS: 0, durationS: 10, rate: 5, vus: 10, demands: 'expected' } as const;

  it('reports what was due and was not sent', () => {
    expect(measurePhases([phase], records(45, 10), 1)).toMatchObject([{ offeredPerSecond: 5, sent: 45, missing: 5 }]);
  });

  it('counts every request of an iteration that sends several, which is missing when one of them is', () => {
    const sent = [1, 2, 3, 4].flatMap(() => records(50, 10));
    expect(measurePhases([phase], sent, 4)).toMatchObject([{ offeredPerSecond: 20, due: 50, missing: 0 }]);
    expect(measurePhases([phase], sent.slice(3), 4)).toMatchObject([{ sent: 197, missing: 3 }]);
  });

  it('in which users wait for their responses offers no rate', () => {
    const closed = { ...phase, rate: undefined };
    expect(measurePhases([closed], records(45, 10), 1)).toMatchObject([
      { offeredPerSecond: null, due: 45, missing: 0 },
    ]);
  });

  it('in which users wait for their responses misses an iteration when a later one has a record', () => {
    const reported = records(45, 10).filter(({ index }) => index % 3 !== 0);
    expect(measurePhases([{ ...phase, rate: undefined }], reported, 1)).toMatchObject([{ due: 45, missing: 15 }]);
  });
});

describe('the throughput of a phase', () => {
  it('is what was responded in its time, also to requests from before it', () => {
    const phase = { name: 'first', startS: 0, durationS: 10, rate: 5, vus: 10, demands: 'expected' } as const;
    const phases = [phase, { ...phase, name: 'second', startS: 10 }];
    const late = records(50, 10, { phase: 'first', tookMs: 4_000 });
    expect(throughputOf(phases, late)).toEqual([3, 2]);
    expect(throughputOf(phases, [...late, aRecord({ ...timedOut, phase: 'first' })])).toEqual([3, 2]);
    expect(throughputOf(phases, [])).toEqual([0, 0]);
  });
});
