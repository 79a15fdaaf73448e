/*
 * Rules of other tools, with the thresholds of their documentation: others give other numbers, the trade-off stays. Each sees one
 * interval after another, and says whether the canary is rolled back then.
 */

/** Requests of both arms in an interval. */
export interface Interval {
  readonly canary: { readonly requests: number; readonly bad: number };
  readonly stable: { readonly requests: number; readonly bad: number };
}

export interface Rival {
  readonly name: string;
  readonly intervalSeconds: number;
  /** A new rollout; true is a rollback. `isEnd`: there is no interval after this one. */
  start(): (interval: Interval, isEnd: boolean) => boolean;
}

/** An interval without requests measures nothing: neither good nor bad. */
const successRate = ({ canary: { requests, bad } }: Interval) => (requests === 0 ? undefined : 1 - bad / requests);

/** A threshold on the success rate of the canary alone; `rollbackAt` failed measurements end the rollout. */
function thresholdRule(name: string, { atLeast, rollbackAt }: { atLeast: number; rollbackAt: number }): Rival {
  return {
    name,
    intervalSeconds: 30,
    start() {
      let failed = 0;
      return (interval) => {
        const rate = successRate(interval);
        if (rate !== undefined && rate < atLeast) failed += 1;
        return failed >= rollbackAt;
      };
    },
  };
}

/** `successCondition: result >= 0.95`, `failureLimit: 3`: the fourth failure. Source: argo-rollouts, docs/features/analysis.md. */
export const argoLike = thresholdRule('Argo-like: at least 95 % per 30 s, failureLimit 3', {
  atLeast: 0.95,
  rollbackAt: 4,
});

/** `request-success-rate` of 99, `threshold: 5`. Source: flagger, docs/gitbook/usage/how-it-works.md. */
export const flaggerLike = thresholdRule('Flagger-like: at least 99 % per 30 s, 5 failed checks', {
  atLeast: 0.99,
  rollbackAt: 5,
});
