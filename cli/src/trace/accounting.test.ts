import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../otlp/metric-store.ts';
import { absencesIn, createAccountReader } from './accounting.ts';
import type { TraceSpan } from './tree.ts';

interface Report {
  readonly counts: Readonly<Record<'started' | 'ended' | 'exported' | 'dropped', number>>;
  /** By the process's clock, ms. */
  readonly time: number;
  readonly receivedAt?: number;
}

interface LastReport extends Report {
  readonly pid: number;
  readonly stale?: boolean;
  readonly createdAt?: number;
  readonly startTime?: number;
  /** It ended in order. */
  readonly closed?: boolean;
}

const pointsOf = ({ counts, closed, time, receivedAt = time + 5, ...process }: Report & Partial<LastReport>) => {
  const common = { service: 'orders', instance: 'orders-1', pid: 1, time, receivedAt, changedAt: time, stale: false };
  const pointOf = (point: object) => ({ ...common, startTime: 0, ...process, ...point }) as unknown as MetricPoint;
  const spans = Object.entries(counts).map(([state, value]) =>
    pointOf({ name: 'shop.telemetry.spans', type: 'counter', attributes: { state }, value }),
  );
  const end = pointOf({ name: 'shop.telemetry.closed', type: 'gauge', attributes: {}, value: 1 });
  return closed ? [end, ...spans] : spans;
};

/** The accounts of several processes of orders, each with its last report. */
const accountsOf = (reports: readonly LastReport[]) =>
  createAccountReader({ metrics: async () => reports.flatMap(pointsOf) })();

/** The reader's result for each of these reports of orders, one after the other. */
async function readAll(reports: readonly Report[]) {
  let points: readonly MetricPoint[] = [];
  const read = createAccountReader({ metrics: async () => points });
  const accounts = [];
  for (const report of reports) {
    points = pointsOf(report);
    accounts.push((await read())[0]);
  }
  return accounts;
}

it('a process that is always busy is settled until its last report without open spans, once as many have been sent', async () => {
  const accounts = await readAll([
    { time: 1_000, counts: { started: 9, ended: 9, exported: 5, dropped: 0 } },
    { time: 2_000, counts: { started: 20, ended: 18, exported: 8, dropped: 0 } },
    { time: 3_000, counts: { started: 30, ended: 28, exported: 9, dropped: 0 } },
  ]);
  expect(accounts.map((account) => account?.settledAt)).toEqual([undefined, undefined, 1_000]);
});

it('a process with an open span in each report is never settled', async () => {
  const accounts = await readAll([
    { time: 1_000, counts: { started: 10, ended: 9, exported: 9, dropped: 0 } },
    { time: 2_000, counts: { started: 20, ended: 19, exported: 19, dropped: 0 } },
  ]);
  expect(accounts.map((account) => account?.settledAt)).toEqual([undefined, undefined]);
});

it('times are those of the receiver when a process has another clock, and its own when it only took its time', async () => {
  const counts = { started: 9, ended: 9, exported: 9, dropped: 0 };
  const accounts = await readAll([
    { time: 3_601_000, receivedAt: 1_000, counts },
    { time: 2_000, receivedAt: 2_300, counts },
  ]);
  expect(accounts.map((account) => [account?.reportedAt, account?.skewMs])).toEqual([
    [1_000, -3_600_000],
    [2_000, 0],
  ]);
});

describe('a process that took the place of one that is gone', () => {
  const counts = { started: 9, ended: 9, exported: 9, dropped: 0 };
  const gone = { counts, time: 1_000, pid: 1, stale: true };
  const span = {
    service: 'orders',
    instance: 'orders-1',
    pid: 2,
    startNanos: 1_500_000_000n,
    endNanos: 1_600_000_000n,
  };

  it('clears it of a trace that began after its own creation, although it was read later', async () => {
    const next = { counts, time: 2_000, pid: 2, createdAt: 1_200, startTime: 2_000 };
    const [absence] = absencesIn([span as TraceSpan], ['orders'], await accountsOf([gone, next]));
    expect(absence?.absence).toBe('never created');
  });

  it('says nothing of a trace that began before it', async () => {
    const next = { counts, time: 2_000, pid: 2, createdAt: 1_550, startTime: 2_000 };
    const [absence] = absencesIn([span as TraceSpan], ['orders'], await accountsOf([gone, next]));
    expect(absence?.absence).toBe('lost with process');
  });
});

describe('a process that ended in order while its successor served', () => {
  const counts = { started: 9, ended: 9, exported: 9, dropped: 0 };
  /** It drained beside the other one, and reported last 300 ms before the trace began. */
  const ended = { counts, time: 1_200, pid: 1, closed: true };
  const beside = { counts, time: 3_000, pid: 2, createdAt: 500 };
  const span = {
    service: 'orders',
    instance: 'orders-1',
    pid: 2,
    startNanos: 1_500_000_000n,
    endNanos: 1_600_000_000n,
  };
  const absenceAfter = async (changes: Partial<LastReport>) =>
    absencesIn([span as TraceSpan], ['orders'], await accountsOf([{ ...ended, ...changes }, beside]))[0]?.absence;

  it('has lost nothing, as its last report says, whether or not it is known to be gone', async () => {
    expect(await absenceAfter({ stale: false })).toBe('never created');
    expect(await absenceAfter({ stale: true })).toBe('never created');
  });

  it('may have lost what was open, or not sent, in its last report', async () => {
    expect(await absenceAfter({ stale: true, counts: { ...counts, started: 10 } })).toBe('lost with process');
    expect(await absenceAfter({ stale: true, counts: { ...counts, exported: 8 } })).toBe('lost with process');
  });

  it('has dropped what it says to have dropped', async () => {
    const changes = { counts: { ...counts, exported: 8, dropped: 1 }, time: 1_550 };
    expect(await absenceAfter({ stale: true, ...changes })).toBe('dropped');
  });

  it('may have lost spans where it was killed', async () => {
    expect(await absenceAfter({ stale: true, closed: false })).toBe('lost with process');
  });
});
