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
  let before: readonly MetricPoint[] | undefined;
  /** What each look added, the oldest first. Looks that added nothing are left out: a rollout may wait for days. */
  let looks: readonly (readonly MetricPoint[])[] = [];
  let limit: number | undefined;
  return {
    add(points) {
      const timed = points.filter(({ name }) => name === DURATIONS);
      const added = before === undefined ? [] : durationsSince(before, timed);
      before = timed;
      if (timedIn(added, of) === 0) return;
      looks = [...looks, added];
      while (timedIn(looks.slice(1).flat(), of) >= LATEST) looks = looks.slice(1);
      limit = slowLimitS(looks.flat(), of) ?? limit;
    },
    current: () => limit,
  };
}
