import { tally } from '../analysis/evidence.ts';
import type { FlagRolloutSummary } from './requests.ts';
import { type FlagRollout, percentIn } from './rollout.ts';

/** `said`: what was said of it last. Pure. */
export function summaryOf(rollout: FlagRollout, said = ''): FlagRolloutSummary {
  const { id, flag, startedAt, isOver, end = null, text = said, plan, stepsBegan, evidence } = rollout;
  const { shares } = tally(evidence);
  const of = (arm: 'canary' | 'stable') => {
    const sum = (key: 'requests' | 'bad' | 'slow') => shares.reduce((total, share) => total + share[arm][key], 0);
    return { requests: sum('requests'), bad: sum('bad'), slow: sum('slow') };
  };
  const percent = end === 'promoted' ? 100 : percentIn(plan, stepsBegan.length - 1);
  return { id, flag, startedAt, isOver, end, text, percent, on: of('canary'), off: of('stable') };
}
