/*
 * Goal: a run whose Toxiproxy was unavailable is distinguished from one on a slow machine.
 * Method: the supervisor's events as they come in each case.
 */
import { describe, expect, it } from 'vitest';
import type { PlatformEvent } from '../../platform/events.ts';
import { proxyInterruptions } from './proxy-interruptions.ts';

const BEGAN = Date.parse('2026-01-01T00:00:00Z');

function happened(...events: readonly [subject: string, type: string, afterMs: number][]): PlatformEvent[] {
  return events.map(([subject, type, afterMs], index) => ({
    seq: index + 1,
    time: new Date(BEGAN + afterMs).toISOString(),
    type: `instance.${type}`,
    subject,
    message: type,
  }));
}

describe('an interruption', () => {
  it.each([
    [
      'it was killed',
      happened(['toxiproxy', 'crashed', 100], ['toxiproxy', 'starting', 200], ['toxiproxy', 'ready', 400]),
    ],
    ['it was restarted', happened(['toxiproxy', 'starting', 200], ['toxiproxy', 'ready', 400])],
    ['it hung and came back', happened(['toxiproxy', 'unready', 100], ['toxiproxy', 'ready', 5_000])],
    ['it hangs still', happened(['toxiproxy', 'unready', 100])],
  ])('is one when %s', (_, events) => {
    expect(proxyInterruptions(events, BEGAN + 10_000)[0]).toEqual(events[0]);
  });

  it.each([
    ['it responded late once', happened(['toxiproxy', 'unready', 100], ['toxiproxy', 'ready', 900])],
    ['a service hung', happened(['orders-1', 'unready', 100], ['payments-1', 'crashed', 200])],
    ['nothing happened', []],
  ])('is none when %s', (_, events) => {
    expect(proxyInterruptions(events, BEGAN + 10_000)).toEqual([]);
  });
});
