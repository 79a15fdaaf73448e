import type { ShareCounts } from './evidence.ts';
import { logMeanExp } from './excess.ts';

/** Sizes of the bets: small ones gain by many failures at both arms, large ones by few. */
const BETS = [0.03, 0.06, 0.12, 0.25, 0.5, 0.9] as const;

/**
 * Logarithm of the evidence W that the canary's error rate exceeds the stable one's by less than `margin`. Each request bets
 * against D, whose expectation is the excess: bad / p at the canary, -bad / (1 - p) at the stable arm, p being the share. W is the
 * mean over the bets c of the product of 1 + c p (margin - D), each factor above 0. While the excess is at least the margin, W is
 * a supermartingale, whatever both arms share. So the chance ever to reach 20 is at most 5 %, at any number of looks. Source: I. Waudby-Smith,
 * A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2024.
 */
export function logWithinMargin(shares: readonly ShareCounts[], margin: number): number {
  return logMeanExp(BETS.map((bet) => logWealth(shares, margin, bet)));
}

function logWealth(shares: readonly ShareCounts[], margin: number, bet: number): number {
  let sum = 0;
  for (const { share, canary, stable } of shares) {
    if (share <= 0 || share >= 1) continue;
    const good = canary.requests - canary.bad + stable.requests - stable.bad;
    const stake = bet * share;
    sum +=
      good * Math.log1p(stake * margin) +
      canary.bad * Math.log1p(stake * margin - bet) +
      stable.bad * Math.log1p(stake * (margin + 1 / (1 - share)));
  }
  return sum;
}
