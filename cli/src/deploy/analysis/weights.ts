/** The replicas that share the calls while a canary is evaluated. */
export interface Arms {
  readonly canary: readonly string[];
  readonly stable: readonly string[];
  /** A stable one of the canary's age; none where the canary is compared with what runs. */
  readonly baseline: readonly string[];
}

/** The largest weight that the file of upstreams holds. */
const MOST = 1_000;
const ALMOST = 1e-6;

/**
 * Weights with which the canary is drawn for `share` of the calls, from 0 to 1. The baseline has as many calls as the canary, but
 * never more than a stable replica. Whole numbers hit most shares exactly, and all of them to a thousandth of the largest one.
 */
export function weightsFor(share: number, { canary, stable, baseline }: Arms): Readonly<Record<string, number>> {
  const rest = 1 - share;
  const ofBaseline = baseline.length === 0 ? 0 : Math.min(share, rest / (stable.length + baseline.length));
  const parts = [
    ...canary.map((name): [string, number] => [name, share / canary.length]),
    ...baseline.map((name): [string, number] => [name, ofBaseline / baseline.length]),
    ...stable.map((name): [string, number] => [name, (rest - ofBaseline) / stable.length]),
  ];
  const most = Math.floor(MOST / Math.max(...parts.map(([, part]) => part)));
  const scale = wholeScale(parts, most) ?? most;
  return Object.fromEntries(parts.map(([name, part]) => [name, Math.max(part > 0 ? 1 : 0, Math.round(part * scale))]));
}

/** The least factor with which all parts are whole. */
function wholeScale(parts: readonly (readonly [string, number])[], most: number): number | undefined {
  const isWhole = (value: number) => Math.abs(value - Math.round(value)) < ALMOST;
  for (let scale = 100; scale <= most; scale += 1) if (parts.every(([, part]) => isWhole(part * scale))) return scale;
  return undefined;
}

/** Replicas that a canary needs for its share of the calls, of the `count` that serve all of them. */
export function replicasFor(share: number, count: number): number {
  return Math.max(1, Math.ceil(share * count - ALMOST));
}
