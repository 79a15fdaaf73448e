import type { MetricPoint } from '../../otlp/metric-store.ts';
import { DURATIONS, durationsSince, slowLimitS, timedIn } from './read-evidence.ts';

/** Enough for a percentile, and few enough to follow how busy the machine is: 7 s at 30 requests a second. */
const LATEST = 200;

/** The time above which a response is slow now. */
export interface SlowLimit {
  /** What has been timed until now, since the start of each process. */
  add(points: readonly MetricPoint[]): void;
  /** In s; undefined while too few responses of the stable arm have been timed. */
  current(): number | undefined;
}

/**
 * The percentile of the latest responses of the stable arm. It is known before the responses that it is compared with. So each of
 * them is as likely to be above it in either arm, whatever the limit is. Test S holds for any limit that looks only back.
 */
export function followSlowLimit(of: { readonly service: string; readonly above: number }): SlowLimit {
  /** The oldest first: where the latest responses begin. */
  let seen: readonly (readonly MetricPoint[])[] = [];
  let limit: number | undefined;
  return {
    add(points) {
      const timed = points.filter(({ name }) => name === DURATIONS);
      const begin = seen.findLastIndex((before) => timedIn(durationsSince(before, timed), of) >= LATEST);
      seen = [...seen.slice(Math.max(0, begin)), timed];
      limit = slowLimitS(durationsSince(seen[0] ?? [], timed), of) ?? limit;
    },
    current: () => limit,
  };
}
