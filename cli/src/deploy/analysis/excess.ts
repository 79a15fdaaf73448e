/** Events at both arms that were drawn with one share of the canary. */
export interface ArmEvents {
  readonly share: number;
  readonly canary: number;
  readonly stable: number;
}

/** How many times as likely an event may be at the canary: the test bets on each. */
const RISKS = [2, 4, 8, 16, 64, Number.POSITIVE_INFINITY] as const;

/** Nothing is taken for certain: one event at the stable arm must not end the test. */
const NEVER_CERTAIN = 0.999;

/**
 * Logarithm of the evidence M that an event is more likely at the canary than `tolerate` times as likely as at the stable arm.
 * Only events count. While both arms are equally good, an event is the canary's with the probability p = share, whatever the load does
 * and both share. With `tolerate` r it is rp / (rp + 1 - p). M is the mean, over several risks, of the
 * likelihood of the events under that risk divided by their likelihood under p. It is a supermartingale unless the canary is
 * worse, so that the chance ever to reach 1 / alpha is at most alpha (Ville's inequality), at any number of looks. Source:
 * M. Lindon, A. Malek, "Anytime-Valid Inference for Multinomial Count Data", NeurIPS 2022.
 */
export function logExcess(events: readonly ArmEvents[], tolerate: number): number {
  return logMeanExp(RISKS.map((risk) => logLikelihoodRatio(events, tolerate, risk)));
}

/** Events of one moment, ms. */
interface DatedEvents extends ArmEvents {
  readonly at: number;
}

/**
 * The same without the events of any `burstMs`, whichever of these are the strongest evidence. A process that stops for a moment makes all of its
 * requests in flight slow together: they are many events, and one cause.
 */
export function logExcessWithoutBurst(events: readonly DatedEvents[], tolerate: number, burstMs: number): number {
  const byTime = events.toSorted((a, b) => a.at - b.at);
  let end = 0;
  const ends = byTime.map(({ at }) => {
    while ((byTime[end]?.at ?? Infinity) < at + burstMs) end++;
    return end;
  });
  // The events of a time are a difference of two sums, so that an hour of them is looked at in milliseconds.
  const sums = RISKS.map((risk) => {
    const until = [0];
    for (const one of byTime) until.push((until.at(-1) ?? 0) + logLikelihoodRatio([one], tolerate, risk));
    return until;
  });
  const all = sums.map((until) => until.at(-1) ?? 0);
  const without = ends.map((after, start) =>
    logMeanExp(sums.map((until, index) => (all[index] ?? 0) - ((until[after] ?? 0) - (until[start] ?? 0)))),
  );
  return Math.min(logExcess(events, tolerate), ...without);
}

function logLikelihoodRatio(events: readonly ArmEvents[], tolerate: number, risk: number): number {
  let sum = 0;
  for (const { share, canary, stable } of events) {
    if (share <= 0 || share >= 1) continue;
    const expected = probabilityAt(share, tolerate);
    // Never below what is expected: a bet on less would gain by a canary that is better.
    const bet = Math.max(expected, Math.min(NEVER_CERTAIN, probabilityAt(share, risk)));
    sum += canary * Math.log(bet / expected) + stable * Math.log((1 - bet) / (1 - expected));
  }
  return sum;
}

/** That an event is the canary's, when it is `risk` times as likely there. */
function probabilityAt(share: number, risk: number): number {
  if (risk === Number.POSITIVE_INFINITY) return 1;
  return (share * risk) / (share * risk + 1 - share);
}

/** ln of the mean of e^x, for exponents that no double holds. */
export function logMeanExp(exponents: readonly number[]): number {
  const most = Math.max(...exponents);
  if (!Number.isFinite(most)) return most;
  const sum = exponents.reduce((total, exponent) => total + Math.exp(exponent - most), 0);
  return most + Math.log(sum / exponents.length);
}
