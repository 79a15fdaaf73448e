import type { CanaryPlan } from '../analysis/plan.ts';

/** What none of the other programs can say. */
export function alwaysMissing({ steps, errors, slow, margin, guards }: CanaryPlan, ratePerSecond: number): string[] {
  const alpha = percent(errors.alpha + slow.alpha);
  const requests = steps.map((step) => step.requests).join(', ');
  const known = ['exit', 'not-ready', 'restart'];
  const lost = guards.filter((guard) => !known.includes(guard));
  return [
    `tests E, S and P with a chance to be wrong of ${alpha}: thresholds take their place, and how often they are wrong is not known`,
    `requests of the canary that end a step (${requests}): it ends by the clock, at ${ratePerSecond} requests a second`,
    `promotion by evidence that the errors are within ${percent(margin)}: the end of the last step promotes`,
    'a customer who stays at one version: the track is not a hash of the Idempotency-Key, so a retry may go elsewhere',
    'first attempts only, and without requests that name their track: each response counts',
    ...(lost.length > 0 ? [`the guards ${lost.join(', ')}`] : []),
  ];
}

export const percentOf = (share: number) => Math.round(share * 100);

export const secondsOf = (ms: number) => `${Math.ceil(ms / 1_000)} s`;

const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`;
