/** Points that were not reached. */
export interface Loss {
  readonly points: number;
  readonly reason: string;
  /** Numbers of the journal's records that show it. */
  readonly evidence: readonly number[];
}

/** One part of a score. Its points and its losses are all that there was to reach. */
export interface Part {
  readonly name: string;
  readonly of: number;
  readonly points: number;
  readonly losses: readonly Loss[];
}

/** A part that begins with all its points. */
export function createPart(name: string, of: number) {
  const losses: Loss[] = [];
  const left = () => rounded(of - losses.reduce((sum, { points }) => sum + points, 0));
  return {
    left,
    /** Takes points, no more than there are. */
    lose(points: number, reason: string, evidence: readonly (number | undefined)[]): void {
      const lost = Math.min(rounded(points), left());
      if (lost > 0) losses.push({ points: lost, reason, evidence: evidence.filter((one) => one !== undefined) });
    },
    done: (): Part => ({ name, of, points: left(), losses }),
  };
}

export type OpenPart = ReturnType<typeof createPart>;

/** To a tenth of a point, so that sums are exact in every process. */
export function rounded(points: number): number {
  return Math.round(points * 10) / 10;
}

/** 0 at `from`, 1 at `to`, and between them in proportion. */
export function progress(value: number, from: number, to: number): number {
  if (value <= from) return 0;
  return value >= to ? 1 : (value - from) / (to - from);
}
