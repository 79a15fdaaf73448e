import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

/** Resident memory at one moment. */
interface Point {
  readonly at: number;
  readonly bytes: number;
}

/** Each half of what is observed: a process that is young, or gets more calls, grows once, and a leak goes on. */
const HALF_MS = 60_000;
/** Growth beyond that of the stable arm, in MB a minute, in both halves. */
const LIMIT_MB = 25;
const LEAST_POINTS = 10;

/** Reads whether the canary grows without end, where the others do not. */
export interface MemoryGuard {
  /** Bytes by instance; those that could not be read are left out. */
  add(at: number, bytes: ReadonlyMap<string, number>): void;
  read(canary: readonly string[], others: readonly string[], at: number): GuardReading;
}

export function createMemoryGuard(): MemoryGuard {
  const points = new Map<string, Point[]>();

  function growth(names: readonly string[], from: number, to: number): number | undefined {
    const slopes = names.flatMap((name) => {
      const own = (points.get(name) ?? []).filter(({ at }) => at > from && at <= to);
      // Of a part of the time it would be that of the start.
      const isWhole = own.length >= LEAST_POINTS && (own[0]?.at ?? to) <= from + HALF_MS / 10;
      return isWhole ? [slopeMbPerMinute(own)] : [];
    });
    return slopes.length === 0 ? undefined : Math.max(...slopes);
  }

  return {
    add(at, bytes) {
      for (const [name, value] of bytes) {
        const own = (points.get(name) ?? []).filter((point) => point.at > at - 2.5 * HALF_MS);
        points.set(name, [...own, { at, bytes: value }]);
      }
    },
    read(canary, others, at) {
      const reading = reads('memory', at);
      const now = canary.map((name) => points.get(name)?.at(-1));
      if (now.some((point) => point === undefined || at - point.at > 10_000))
        return reading('unknown', 'its memory cannot be read');
      const halves = [at - HALF_MS, at - 2 * HALF_MS].map((from) => ({
        canary: growth(canary, from, from + HALF_MS),
        others: growth(others, from, from + HALF_MS) ?? 0,
      }));
      if (halves.some((half) => half.canary === undefined))
        return reading('held', `it has not been observed for ${(2 * HALF_MS) / 1_000} s yet`);
      const excess = halves.map((half) => (half.canary ?? 0) - Math.max(0, half.others));
      const [latest] = halves;
      const seen = `${Math.round(latest?.canary ?? 0)} MB a minute, the others ${Math.round(latest?.others ?? 0)}`;
      return reading(excess.every((mb) => mb > LIMIT_MB) ? 'tripped' : 'held', seen);
    },
  };
}

/** By least squares. */
function slopeMbPerMinute(points: readonly Point[]): number {
  const origin = points[0]?.at ?? 0;
  const xs = points.map(({ at }) => (at - origin) / 60_000);
  const ys = points.map(({ bytes }) => bytes / 1e6);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const spread = xs.reduce((sum, value) => sum + (value - x) ** 2, 0);
  return xs.reduce((sum, value, index) => sum + (value - x) * ((ys[index] ?? y) - y), 0) / spread;
}
