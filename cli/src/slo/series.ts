import type { Profile } from './profiles.ts';
import { type Burn, budgetOf, type Slo } from './slo.ts';
import { windowMs } from './window.ts';

/*
 * The series that Prometheus records of each SLO, by the label `slo`. Rules, dashboards and commands take the names from
 * here. A rate is per second: of requests, or of seconds that are bad.
 */

/** What is recorded for one window. */
export const badRate = (window: string) => `slo:bad:rate${window}`;
export const totalRate = (window: string) => `slo:total:rate${window}`;
export const badRatio = (window: string) => `slo:bad_ratio:rate${window}`;

/** Of SLOs of seconds: whether this second is bad, and whether it counts. */
export const BAD_NOW = 'slo:bad:now';
export const TOTAL_NOW = 'slo:total:now';

/** The objective as a share, the share that was good in the time window, and what is left of the budget (1: all of it). */
export const OBJECTIVE = 'slo:objective';
export const ATTAINED = 'slo:attained';
export const BUDGET_LEFT = 'slo:budget_left';
/** How fast the budget is spent now: 1 spends it exactly by the end of the time window. */
export const BURN_NOW = 'slo:burn_now';
/** How many requests or seconds the time window has so far. */
export const EVENTS = 'slo:events';

/** The recorded series of one SLO: `slo:attained{slo="orders-availability"}`. */
export function seriesOf(name: string, slo: Pick<Slo, 'name'>): string {
  return `${name}{slo="${slo.name}"}`;
}

/** What commands show of an SLO in a profile: its numbers, and the expressions that have the others. */
export interface SloSeries {
  readonly slo: string;
  readonly title: string;
  readonly objective: number;
  /** The share that may be bad. */
  readonly budget: number;
  /** The time window in this profile: `1h`. */
  readonly window: string;
  readonly windowMs: number;
  /** Expressions; each has one value, or none without data. */
  readonly attained: string;
  readonly budgetLeft: string;
  readonly burnNow: string;
  readonly events: string;
  readonly alerts: readonly {
    readonly alert: string;
    readonly burn: string;
    readonly threshold: number;
    readonly long: string;
    readonly short: string;
  }[];
}

export function sloSeries(slo: Slo, profile: Profile): SloSeries {
  const window = windowIn(profile, slo.window);
  return {
    slo: slo.name,
    title: slo.title,
    objective: slo.objectives[profile.name],
    budget: budgetOf(slo, profile.name),
    window,
    windowMs: windowMs(window) ?? 0,
    attained: seriesOf(ATTAINED, slo),
    budgetLeft: seriesOf(BUDGET_LEFT, slo),
    burnNow: seriesOf(BURN_NOW, slo),
    events: seriesOf(EVENTS, slo),
    alerts: slo.alerts.flatMap(({ name, burns }) =>
      burns.map(({ name: burn, threshold, long, short }) => ({
        alert: name,
        burn,
        threshold,
        long: windowIn(profile, long),
        short: windowIn(profile, short),
      })),
    ),
  };
}

/**
 * After how many seconds a share of bad events fires a burn rate, on top of what was good before. In the steady state of
 * the long window; export, scrape and evaluation take about three periods of scraping more. Infinity where it never does.
 */
export function secondsToFire(badShare: number, burn: Burn, slo: Slo, profile: Profile): number {
  const threshold = burn.threshold * budgetOf(slo, profile.name);
  if (badShare <= threshold) return Number.POSITIVE_INFINITY;
  return ((windowMs(windowIn(profile, burn.long)) ?? 0) / 1_000) * (threshold / badShare);
}

/** A window of an SLO's file in a profile. It was checked when the file was read. */
export function windowIn(profile: Profile, written: string): string {
  const window = profile.windowFor(written);
  if (window === undefined) throw new RangeError(`${profile.name} has no window for ${written}`);
  return window;
}

/** Every window that rates of this SLO are needed for, the shortest first. */
export function windowsOf(slo: Slo, profile: Profile): readonly string[] {
  const written = slo.alerts.flatMap(({ burns }) => burns.flatMap(({ long, short }) => [long, short]));
  const all = new Set((written.length > 0 ? written : ['5m', '1h']).map((one) => windowIn(profile, one)));
  return [...all].toSorted((a, b) => (windowMs(a) ?? 0) - (windowMs(b) ?? 0));
}
