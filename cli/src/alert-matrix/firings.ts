import type { PagerEvent } from '../pager/page-event.ts';
import { WATCHDOG } from '../pager/pipeline-watch.ts';
import type { Firing } from './journal.ts';

type Fired = Extract<PagerEvent, { type: 'fired' }>;

/** What fired since a moment, by alert and burn rate: from the first to the end of the last. Pure. */
export function firingsSince(events: readonly PagerEvent[], sinceMs: number): readonly Firing[] {
  const since = events.filter(({ time }) => Date.parse(time) >= sinceMs);
  const fired = since.filter((event): event is Fired => event.type === 'fired' && event.alertname !== WATCHDOG);
  const groups = Map.groupBy(fired, ({ alertname, labels }) => `${alertname} ${labels.burn ?? ''}`);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const ends = own.map((one) => endOf(one, since));
    const resolvedMs = ends.every((end) => end !== undefined) ? Math.max(...ends) - sinceMs : undefined;
    const { alertname, severity, labels, time } = first;
    return [
      {
        alertname,
        severity,
        ...(labels.burn !== undefined && { burn: labels.burn }),
        firedMs: Date.parse(time) - sinceMs,
        ...(resolvedMs !== undefined && { resolvedMs }),
      },
    ];
  });
}

/** Undefined: it still fires. */
function endOf(fired: Fired, events: readonly PagerEvent[]): number | undefined {
  const end = events.find(
    (event) => event.type === 'resolved' && event.fingerprint === fired.fingerprint && event.sequence > fired.sequence,
  );
  return end === undefined ? undefined : Date.parse(end.time);
}

/** When alerts did not arrive since a moment; empty: they did all the time. Pure. */
export function lostSince(events: readonly PagerEvent[], sinceMs: number): readonly string[] {
  const lost = events.find(
    (event) => event.type === 'pipeline' && event.status === 'lost' && Date.parse(event.time) >= sinceMs,
  );
  return lost === undefined ? [] : [`alerts did not arrive from ${lost.time} on`];
}

/**
 * Slow burn rates have windows of five minutes and more, and lost shipments are counted over two minutes: they fire on for minutes after their cause
 * is gone. Pure.
 */
export function isSlowToClear({
  alertname,
  burn,
}: {
  readonly alertname: string;
  readonly burn?: string | undefined;
}): boolean {
  return alertname === 'ShipmentsMissing' || (burn !== undefined && burn !== 'fast');
}
