import { describe, expect, it } from 'vitest';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { findKnee } from './knee.ts';
import { measurePhases, throughputOf } from './measured.ts';
import { records, timedOut } from './testing/records.ts';

const SECONDS = 10;

interface Step {
  readonly offered: number;
  readonly confirmed: number;
  readonly tookMs?: number;
  /** Sent and without a response. */
  readonly lost?: number;
}

function kneeOf(steps: readonly Step[]) {
  const phases = steps.map(
    ({ offered }, index): Phase => ({
      name: `step-${index + 1}`,
      startS: index * SECONDS,
      durationS: SECONDS,
      rate: offered,
      vus: 10,
      demands: 'nothing',
    }),
  );
  const sent = steps.flatMap(({ confirmed, tookMs = 50, lost = 0 }, index) => {
    const phase = `step-${index + 1}`;
    const own = [
      ...records(confirmed * SECONDS, SECONDS, { phase, tookMs }),
      ...records(lost * SECONDS, SECONDS, { phase, ...timedOut }),
    ];
    return own.map((record) => ({ ...record, at: record.at + index * SECONDS * 1000 }));
  });
  return findKnee(measurePhases(phases, sent, 1), throughputOf(phases, sent));
}

describe('the knee', () => {
  it('is the last step before the first that was not followed', () => {
    const steps = [
      { offered: 20, confirmed: 20, tookMs: 40 },
      { offered: 40, confirmed: 40, tookMs: 90 },
      { offered: 60, confirmed: 52 },
      { offered: 80, confirmed: 48 },
    ];
    expect(kneeOf(steps)).toEqual({
      sustainedPerSecond: 40,
      p95Ms: 90,
      saturatedAtPerSecond: 60,
      because: '52 of 60 orders a second were confirmed',
      highestPerSecond: expect.closeTo(52, 0),
    });
  });

  it('reports the most that was confirmed within a step, not what became of it later', () => {
    const steps = [
      { offered: 20, confirmed: 20 },
      { offered: 100, confirmed: 100, tookMs: 5_000 },
    ];
    expect(kneeOf(steps).highestPerSecond).toBeCloseTo(50, 0);
  });

  it('is where responses become slow, also when all of them still come', () => {
    const steps = [
      { offered: 20, confirmed: 20 },
      { offered: 40, confirmed: 40, tookMs: 1_500 },
    ];
    expect(kneeOf(steps)).toMatchObject({ sustainedPerSecond: 20, because: 'p95 was 1500 ms, above 1000 ms' });
  });

  it('does not come back: a step that holds behind one that did not says nothing', () => {
    const steps = [
      { offered: 20, confirmed: 20 },
      { offered: 40, confirmed: 20, lost: 20 },
      { offered: 60, confirmed: 60 },
    ];
    expect(kneeOf(steps)).toMatchObject({ sustainedPerSecond: 20, saturatedAtPerSecond: 40 });
  });

  it('lies above a ramp whose steps all held', () => {
    const knee = kneeOf([
      { offered: 20, confirmed: 20 },
      { offered: 40, confirmed: 39 },
    ]);
    expect(knee).toMatchObject({ sustainedPerSecond: 40, saturatedAtPerSecond: null });
  });

  it('is not known when the first step did not hold', () => {
    expect(kneeOf([{ offered: 20, confirmed: 5 }])).toMatchObject({
      sustainedPerSecond: null,
      saturatedAtPerSecond: 20,
    });
  });

  it('leaves out the steps that a ramp which was ended early never came to', () => {
    const steps = [
      { offered: 20, confirmed: 20 },
      { offered: 40, confirmed: 0 },
    ];
    expect(kneeOf(steps)).toMatchObject({ sustainedPerSecond: 20, saturatedAtPerSecond: null });
  });
});
