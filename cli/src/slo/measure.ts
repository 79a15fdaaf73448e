import type { PrometheusClient } from '../shop/prometheus.ts';
import { profiles } from './profiles.ts';
import { type SloSeries, sloSeries } from './series.ts';
import type { Slo } from './slo.ts';

/** An SLO as it is now. Shares are from 0 to 1; null where there is no data yet. */
export interface MeasuredSlo {
  readonly name: string;
  readonly title: string;
  readonly objective: number;
  /** What Prometheus calls the time window: `1h`. */
  readonly window: string;
  readonly attained: number | null;
  /** Of the budget; below 0 where more was spent. */
  readonly budgetLeft: number | null;
  /** 1 spends the budget exactly by the end of the window. */
  readonly burnNow: number | null;
  /** Requests, or seconds, in the window. */
  readonly events: number | null;
  /** At this pace; null where nothing is spent, or the budget is spent already. */
  readonly spentInMs: number | null;
}

/** Asks for everything concurrently. Throws CliError as the client does. */
export function measureSlos(slos: readonly Slo[], prometheus: PrometheusClient): Promise<readonly MeasuredSlo[]> {
  return Promise.all(slos.map((slo) => measure(sloSeries(slo, profiles.laptop), prometheus)));
}

async function measure(series: SloSeries, prometheus: PrometheusClient): Promise<MeasuredSlo> {
  const value = async (expression: string) => {
    const [sample] = await prometheus.queryInstant(expression);
    return sample !== undefined && Number.isFinite(sample.value) ? sample.value : null;
  };
  const [attained, budgetLeft, burnNow, events] = (await Promise.all(
    [series.attained, series.budgetLeft, series.burnNow, series.events].map(value),
  )) as [number | null, number | null, number | null, number | null];
  const { slo: name, title, objective, window, windowMs } = series;
  const spentInMs = timeLeftMs(budgetLeft, burnNow, windowMs);
  return { name, title, objective, window, attained, budgetLeft, burnNow, events, spentInMs };
}

/** A burn rate of 1 spends the whole budget in the window, so that what is left lasts for its share of that. Pure. */
export function timeLeftMs(budgetLeft: number | null, burnNow: number | null, windowMs: number): number | null {
  if (budgetLeft === null || burnNow === null || budgetLeft <= 0 || burnNow <= 0) return null;
  return (budgetLeft * windowMs) / burnNow;
}
