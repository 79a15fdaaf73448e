/** A series of promtool: its name with labels, and its values in promtool's notation. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** At a time, an alert fires with these labels (beside those of its rule), or does not. */
export interface Expectation {
  readonly atS: number;
  /** Why: the rule that this case checks. */
  readonly because: string;
  /** Labels of the alerts that fire; empty: none fires. */
  readonly fires: readonly Readonly<Record<string, string>>[];
}

/** One timeline with the cases that it shows. */
export interface Scenario {
  readonly name: string;
  readonly series: readonly InputSeries[];
  readonly expect: readonly Expectation[];
}

/** Scenarios of one file: they share the time between two samples, and between two evaluations. */
export interface ScenarioFile {
  /** Name of the file and of the alert, with `-fast` for one of its burn rates. */
  readonly name: string;
  readonly alert: string;
  readonly burn?: string;
  /** Where the alert is about any SLO: the one that the scenarios are about. */
  readonly slo?: string;
  readonly stepS: number;
  readonly scenarios: readonly Scenario[];
}

/** What a counter gains in each of a number of steps. */
export type Phase = readonly [steps: number, perStep: number];

/** A counter that begins at 0 and gains what the phases say. */
export function counter(...phases: readonly Phase[]): string {
  const parts = ['0'];
  let value = 0;
  for (const [steps, gain] of phases.filter(([steps]) => steps > 0)) {
    const perStep = rounded(gain);
    value += perStep;
    parts.push(`${value}+${perStep}x${steps - 1}`);
    // As promtool adds up: a next phase that began a fraction lower would be a reset.
    for (let step = 1; step < steps; step += 1) value += perStep;
  }
  return parts.join(' ');
}

/** A gauge that has a value for a number of steps, then the next one; `_` is none, also where the last one would still count. */
export function gauge(...phases: readonly (readonly [steps: number, value: number | '_'])[]): string {
  return phases.map(([steps, value]) => (value === '_' ? away(steps) : `${value}x${steps - 1}`)).join(' ');
}

/** A series that is not there for a number of steps. */
export function away(steps: number): string {
  return steps === 1 ? 'stale' : `stale _x${steps - 1}`;
}

/** Promtool takes decimals; this many keep ratios exact enough. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}

export function series(name: string, labels: Readonly<Record<string, string>>, values: string): InputSeries {
  const text = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return { series: `${name}{${text.join(',')}}`, values };
}

export const fires = (atS: number, because: string, labels: Readonly<Record<string, string>> = {}): Expectation => ({
  atS,
  because,
  fires: [labels],
});
export const silent = (atS: number, because: string): Expectation => ({ atS, because, fires: [] });
