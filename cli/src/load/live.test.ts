import { describe, expect, it } from 'vitest';
import { describeLive, LiveCount } from './live.ts';
import { records, timedOut } from './testing/records.ts';

const phases = [
  { name: 'step-1', startS: 0, durationS: 10, rate: 10, vus: 5, demands: 'expected' },
  { name: 'step-2', startS: 10, durationS: 10, rate: 20, vus: 5, demands: 'nothing' },
] as const;

describe('a load as it goes on', () => {
  it('is shown with its phase, and the rate and latency of the last ten seconds', () => {
    const live = new LiveCount(phases);
    live.add(records(100, 10, { tookMs: 50 }));
    live.add(records(200, 10, { tookMs: 80 }).map((record) => ({ ...record, at: record.at + 10_000 })));
    live.add(records(1, 1, { ...timedOut, tookMs: 11_000 }));
    const state = live.state(21_000);
    expect(state).toMatchObject({ phase: 'step-2', sent: 301, unexpected: 1, p95Ms: 80, elapsedMs: 20_000 });
    expect(state.perSecond).toBeCloseTo(20, 0);
    expect(describeLive(state, { pending: 3, machinePercent: 84.4 })).toBe(
      'step-2 20/20 s  20.1 orders/s  p95 80 ms  301 sent  1 errors  outbox 3  CPU 84 %',
    );
  });

  it('says nothing that it does not know', () => {
    expect(describeLive(new LiveCount(phases).state(5), { pending: undefined, machinePercent: undefined })).toBe(
      'step-1 0/20 s  0 orders/s  0 sent',
    );
  });
});
