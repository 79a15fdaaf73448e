import type { ArmEvents } from './excess.ts';

/** What a request was drawn for: the release that is evaluated, or what it is compared with. */
export type Arm = 'canary' | 'stable';

/**
 * What became of requests of one arm, as one line of the journal: counted are the first attempts of their keys that no
 * header sent to a track. The verdict on a canary follows from these lines alone.
 */
export interface Evidence {
  /** When the outcomes were read, in ms since 1970. */
  readonly at: number;
  readonly arm: Arm;
  /** The canary's share when these requests were drawn, from 0 to 1, however late their outcomes came. */
  readonly share: number;
  readonly requests: number;
  /** Of these: no business outcome, such as 5xx, `payment unavailable`, no response in time. */
  readonly bad: number;
  /** Of the good ones: slower than the limit. Null while there is no limit. */
  readonly slow: number | null;
}

/** Requests of one arm that were drawn with one share. */
export interface Counts {
  requests: number;
  bad: number;
  slow: number;
  /** Requests for which it is known whether they were slow. */
  timed: number;
}

/** All that the tests need: the counts of both arms for a share. Shares of 0 and 1 compare nothing and are left out. */
export interface ShareCounts {
  readonly share: number;
  readonly canary: Counts;
  readonly stable: Counts;
}

/** Slow requests that were seen in one look, of one share. */
export interface SlowMoment extends ArmEvents {
  /** ms since 1970. */
  readonly at: number;
}

/** The counts of a rollout, with the time between the first and the last failure of the canary, and when requests were slow. */
export interface Tally {
  /** By rising share, so that sums do not depend on the order of lines. */
  readonly shares: readonly ShareCounts[];
  readonly badSpanMs: number;
  /** By time, and then by share. */
  readonly slowMoments: readonly SlowMoment[];
}

export const noCounts = (): Counts => ({ requests: 0, bad: 0, slow: 0, timed: 0 });

/** The order of the lines does not matter. Throws RangeError for a line that no rollout writes. */
export function tally(evidence: readonly Evidence[]): Tally {
  const byShare = new Map<number, ShareCounts>();
  const slowMoments = new Map<string, { -readonly [key in keyof SlowMoment]: SlowMoment[key] }>();
  for (const line of evidence) {
    check(line);
    const { at, arm, share, requests, bad, slow } = line;
    if (share === 0 || share === 1) continue;
    const row = byShare.get(share) ?? { share, canary: noCounts(), stable: noCounts() };
    byShare.set(share, row);
    const counts = row[arm];
    counts.requests += requests;
    counts.bad += bad;
    if (slow === null) continue;
    counts.slow += slow;
    counts.timed += requests - bad;
    if (slow === 0) continue;
    const moment = slowMoments.get(`${at} ${share}`) ?? { at, share, canary: 0, stable: 0 };
    slowMoments.set(`${at} ${share}`, moment);
    moment[arm] += slow;
  }
  const ofCanary = evidence.filter(({ arm, share }) => arm === 'canary' && share > 0 && share < 1);
  return {
    shares: [...byShare.values()].toSorted((a, b) => a.share - b.share),
    badSpanMs: spanMs(ofCanary.filter(({ bad }) => bad > 0)),
    slowMoments: [...slowMoments.values()].toSorted((a, b) => a.at - b.at || a.share - b.share),
  };
}

function spanMs(lines: readonly Evidence[]): number {
  const times = lines.map(({ at }) => at);
  return lines.length === 0 ? 0 : maximum(times) - minimum(times);
}

// Of more values than a call takes arguments.
const maximum = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b));
const minimum = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;

function check({ at, share, requests, bad, slow }: Evidence): void {
  const isSound =
    Number.isFinite(at) &&
    share >= 0 &&
    share <= 1 &&
    [requests, bad, slow ?? 0].every(isCount) &&
    bad + (slow ?? 0) <= requests;
  if (!isSound) throw new RangeError(`no evidence: ${JSON.stringify({ at, share, requests, bad, slow })}`);
}

/** Requests of the canary since the rollout began. */
export function canaryRequests({ shares }: Pick<Tally, 'shares'>): number {
  return shares.reduce((sum, { canary }) => sum + canary.requests, 0);
}
