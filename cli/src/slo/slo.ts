import type { ProfileName } from './profiles.ts';

/** A service level objective as it was read from its file. */
export interface Slo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly service: string;
  /** Requests are counted, or seconds. */
  readonly counts: 'requests' | 'seconds';
  /** Queries of counters are rates over a window; those of gauges are the state now, and have no window. */
  readonly isCounter: boolean;
  /** PromQL with a window as it stands in expressions. */
  bad(window: string): string;
  total(window: string): string;
  /** The time window of the file: the production's. */
  readonly window: string;
  /** Share that must be good, above 0 and below 1. */
  readonly objectives: Readonly<Record<ProfileName, number>>;
  readonly alerts: readonly BurnAlert[];
}

/** An alert on the speed at which the budget is spent. */
export interface BurnAlert {
  readonly name: string;
  readonly summary: string;
  readonly impact: string;
  readonly burns: readonly Burn[];
}

export interface Burn {
  /** `fast`, `slow`, `steady`: the label `burn`. */
  readonly name: string;
  readonly severity: 'page' | 'ticket';
  readonly threshold: number;
  /** Windows of the file: the production's. */
  readonly long: string;
  readonly short: string;
}

/** What may be bad, as a share: 0.005 of an objective of 99.5 %. */
export function budgetOf(slo: Slo, profile: ProfileName): number {
  return badShareOf(slo.objectives[profile]);
}

/** What an objective leaves, without the noise of binary fractions. */
export function badShareOf(objective: number): number {
  return Number((1 - objective).toPrecision(12));
}
