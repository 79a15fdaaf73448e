import { expect, it } from 'vitest';
import type { PagerEvent } from '../pager/page-event.ts';
import { firingsSince, lostSince } from './firings.ts';

const START = Date.parse('2026-11-24T09:00:00.000Z');
const time = (s: number) => new Date(START + s * 1_000).toISOString();
let sequence = 0;
const event = (type: 'fired' | 'resolved', alertname: string, s: number, labels: Record<string, string> = {}) => {
  const fingerprint = `${alertname} ${JSON.stringify(labels)}`;
  return { type, alertname, fingerprint, severity: 'page', labels, time: time(s), sequence: ++sequence } as PagerEvent;
};

it('an alert is one firing from its first beginning to its last end', () => {
  const events = [
    event('fired', 'Stalled', 10),
    event('resolved', 'Stalled', 20),
    event('fired', 'Stalled', 25),
    event('resolved', 'Stalled', 40),
  ];
  expect(firingsSince(events, START)).toEqual([
    { alertname: 'Stalled', severity: 'page', firedMs: 10_000, resolvedMs: 40_000 },
  ]);
});

it('an alert of several series goes on as long as one of them does', () => {
  const [a, b] = [{ edge: 'a' }, { edge: 'b' }];
  const events = [event('fired', 'Open', 10, a), event('fired', 'Open', 12, b), event('resolved', 'Open', 20, a)];
  expect(firingsSince(events, START)).toEqual([{ alertname: 'Open', severity: 'page', firedMs: 10_000 }]);
});

it('burn rates of an alert are apart', () => {
  const [fast, slow] = [{ burn: 'fast' }, { burn: 'slow' }];
  const events = [
    event('fired', 'Burn', 7, fast),
    event('fired', 'Burn', 9, slow),
    event('resolved', 'Burn', 30, fast),
  ];
  expect(firingsSince(events, START)).toEqual([
    { alertname: 'Burn', severity: 'page', burn: 'fast', firedMs: 7_000, resolvedMs: 30_000 },
    { alertname: 'Burn', severity: 'page', burn: 'slow', firedMs: 9_000 },
  ]);
});

it('what fired before, and the alert that always fires, are no firings', () => {
  const events = [event('fired', 'Stalled', -5), event('fired', 'Watchdog', 1), event('resolved', 'Stalled', 5)];
  expect(firingsSince(events, START)).toEqual([]);
});

it('a time without alerts counts from the beginning on', () => {
  const lost = (s: number) => [{ type: 'pipeline', status: 'lost', why: '', time: time(s), sequence: 1 } as PagerEvent];
  expect(lostSince(lost(-1), START)).toEqual([]);
  expect(lostSince(lost(3), START)).toEqual([`alerts did not arrive from ${time(3)} on`]);
});
