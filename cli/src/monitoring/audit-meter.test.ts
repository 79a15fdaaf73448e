import { afterEach, expect, it } from 'vitest';
import type { RecentLook, RecentViolation } from '../audit/recent.ts';
import { type AuditEvent, type AuditMeter, startAuditMeter } from './audit-meter.ts';

const meters: AuditMeter[] = [];
afterEach(async () => {
  for (const meter of meters.splice(0)) await meter.end();
});

const charged: RecentViolation = { invariant: 'I4', kind: 'duplicated', orderId: 'order-1', detail: 'charged 2 times' };
const unshipped: RecentViolation = { invariant: 'I7', kind: 'lost', orderId: 'order-2', detail: 'no shipment' };

/** A meter whose looks find what the test says. */
function aMeter() {
  const ledger = {
    violations: [] as RecentViolation[],
    unknown: {} as Record<string, string>,
    orders: 3,
    unfinishedSince: undefined as number | undefined,
    error: undefined as Error | undefined,
    sinces: [] as number[],
    problems: [] as string[],
  };
  const meter = startAuditMeter({
    async look(sinceMs): Promise<RecentLook> {
      ledger.sinces.push(Date.now() - sinceMs);
      if (ledger.error) throw ledger.error;
      const { violations, unknown, orders, unfinishedSince } = ledger;
      return { at: Date.now(), orders, violations, unknown: new Map(Object.entries(unknown)), unfinishedSince };
    },
    onProblem: (message) => ledger.problems.push(message),
  });
  meters.push(meter);
  return { meter, ledger };
}

/** Watches every 10 ms and keeps what it gets. */
function watch(meter: AuditMeter) {
  const events: AuditEvent[] = [];
  const leave = meter.watch(10, (event) => events.push(event));
  const found = () =>
    events.flatMap((event) => (event.type === 'violation' ? [`${event.invariant} ${event.orderId}`] : []));
  const looks = () => events.filter(({ type }) => type === 'look').length;
  return { events, leave, found, looks };
}

/** Sums of all kinds: `{I4: 1}`. */
function gauge(meter: AuditMeter): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { invariant = '', value } of pointsOf(meter)) sums[invariant] = (sums[invariant] ?? 0) + value;
  return sums;
}

function pointsOf(meter: AuditMeter) {
  const points = meter.metrics().flatMap((metric) => metric.gauge?.dataPoints ?? []);
  return points.map(({ attributes, asDouble = Number.NaN }) => {
    const labelled = Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, value?.stringValue]));
    return { invariant: labelled.invariant, kind: labelled.kind, value: asDouble };
  });
}

it('looks at nothing, and has no value, until that is wanted', async () => {
  const { meter, ledger } = aMeter();
  expect(meter.metrics()).toEqual([]);
  const { leave, looks } = watch(meter);
  await expect.poll(looks).toBeGreaterThan(1);
  expect(gauge(meter)).toEqual({ I4: 0, I5: 0, I7: 0, I8: 0, I15: 0 });
  leave();
  expect(meter.metrics()).toEqual([]);
  const seen = ledger.sinces.length;
  meter.setAlways(10);
  await expect.poll(() => ledger.sinces.length).toBeGreaterThan(seen + 2);
  expect(gauge(meter)).toEqual({ I4: 0, I5: 0, I7: 0, I8: 0, I15: 0 });
  meter.setAlways(undefined);
  expect(meter.metrics()).toEqual([]);
});

it('gives each violation to each watcher once, with its order and invariant, and counts those that stand', async () => {
  const { meter, ledger } = aMeter();
  ledger.violations = [charged];
  const first = watch(meter);
  await expect.poll(first.looks).toBeGreaterThan(2);
  expect(first.found()).toEqual(['I4 order-1']);
  ledger.violations = [charged, unshipped];
  await expect.poll(first.found).toEqual(['I4 order-1', 'I7 order-2']);
  expect(gauge(meter)).toEqual({ I4: 1, I5: 0, I7: 1, I8: 0, I15: 0 });
  const second = watch(meter);
  await expect.poll(second.found).toEqual(['I4 order-1', 'I7 order-2']);
  ledger.violations = [charged];
  await expect.poll(() => gauge(meter)).toEqual({ I4: 1, I5: 0, I7: 0, I8: 0, I15: 0 });
  expect(first.found()).toEqual(['I4 order-1', 'I7 order-2']);
});

it('counts each kind of violation separately, from 0 on', async () => {
  const { meter, ledger } = aMeter();
  ledger.violations = [charged, unshipped, { ...unshipped, orderId: 'order-3' }];
  const { looks } = watch(meter);
  await expect.poll(looks).toBeGreaterThan(0);
  const values = Object.groupBy(pointsOf(meter), ({ invariant = '' }) => invariant);
  expect(values.I7).toEqual([
    { invariant: 'I7', kind: 'lost', value: 2 },
    { invariant: 'I7', kind: 'unexpected', value: 0 },
    { invariant: 'I7', kind: 'duplicated', value: 0 },
    { invariant: 'I7', kind: 'wrong', value: 0 },
  ]);
  expect(values.I4?.filter(({ value }) => value > 0)).toEqual([{ invariant: 'I4', kind: 'duplicated', value: 1 }]);
});

it('keeps the violation of an order that has left the window', async () => {
  const { meter, ledger } = aMeter();
  ledger.violations = [{ ...charged, placedAt: Date.now() - 700_000 }];
  const { looks } = watch(meter);
  await expect.poll(() => gauge(meter).I4).toBe(1);
  ledger.violations = [];
  const seen = looks();
  await expect.poll(looks).toBeGreaterThan(seen + 1);
  expect(gauge(meter).I4).toBe(1);
});

it('has no value for an invariant that cannot be checked, and says why', async () => {
  const { meter, ledger } = aMeter();
  ledger.violations = [charged];
  const { events } = watch(meter);
  await expect.poll(() => gauge(meter).I4).toBe(1);
  ledger.violations = [];
  ledger.unknown = { I4: 'the payments database cannot be read' };
  await expect.poll(() => gauge(meter)).toEqual({ I5: 0, I7: 0, I8: 0, I15: 0 });
  expect(events.at(-1)).toMatchObject({ unknown: { I4: 'the payments database cannot be read' }, standing: 1 });
});

it('has no values while looks are not possible, reports that once, and goes on', async () => {
  const { meter, ledger } = aMeter();
  ledger.error = new Error('no connection');
  watch(meter);
  await expect.poll(() => ledger.sinces.length).toBeGreaterThan(3);
  expect(meter.metrics()).toEqual([]);
  ledger.error = undefined;
  await expect.poll(() => gauge(meter).I4).toBe(0);
  expect(ledger.problems).toEqual([
    'the recent orders cannot be audited: no connection',
    'the recent orders are audited again',
  ]);
});

it('goes back 10 minutes, less where there are many orders, and up to 10 minutes to an unfinished one', async () => {
  const { meter, ledger } = aMeter();
  ledger.orders = 1_000_000;
  watch(meter);
  await expect.poll(() => ledger.sinces.length).toBeGreaterThan(1);
  expect(Math.round((ledger.sinces[0] ?? 0) / 1_000)).toBe(600);
  expect(Math.round((ledger.sinces[1] ?? 0) / 1_000)).toBe(90);
  ledger.unfinishedSince = Date.now() - 300_000;
  await expect.poll(() => Math.round((ledger.sinces.at(-1) ?? 0) / 1_000)).toBe(300);
  ledger.unfinishedSince = Date.now() - 3_600_000;
  await expect.poll(() => Math.round((ledger.sinces.at(-1) ?? 0) / 1_000)).toBe(600);
});
