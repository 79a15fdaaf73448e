/** Arrivals of an open model: they come at a constant rate, whatever becomes of those before. */
export interface Arrivals {
  /** When each of those was due that have become due since the last time, ms on the same clock as `startMs`. */
  due(nowMs: number): readonly number[];
}

export function createArrivals(perSecond: number, startMs: number): Arrivals {
  let arrived = 0;
  return {
    due(nowMs) {
      const total = Math.max(arrived, Math.floor(((nowMs - startMs) * perSecond) / 1_000) + 1);
      const times = Array.from({ length: total - arrived }, (_, i) => startMs + ((arrived + i) * 1_000) / perSecond);
      arrived = total;
      return times;
    },
  };
}
