import { profiles } from '../slo/profiles.ts';
import { windowIn } from '../slo/series.ts';
import { budgetOf, type Slo } from '../slo/slo.ts';
import { windowS } from '../slo/window.ts';

/** What a customer notices of an order: it failed, or its response came late. */
export type Symptom = 'failed' | 'slow';

/** From which share on a symptom is worth a page, in the windows of one machine. */
export interface PageBurn {
  readonly symptom: Symptom;
  /** `OrdersErrorBudgetBurn fast`. */
  readonly alert: string;
  readonly share: number;
  readonly longS: number;
  readonly shortS: number;
}

/** The guard of burn rates: fewer requests, or fewer bad ones, say nothing. */
export interface Guard {
  readonly requests: number;
  readonly bad: number;
}

/** The SLOs whose bad events a client sees itself. */
const SYMPTOMS: Readonly<Record<string, Symptom>> = { 'orders-availability': 'failed', 'orders-latency': 'slow' };

/** The burn rates that page, of the SLOs that a client can measure itself. Pure. */
export function pageBurnsOf(slos: readonly Slo[]): readonly PageBurn[] {
  const profile = profiles.laptop;
  return slos.flatMap((slo) => {
    const symptom = SYMPTOMS[slo.name];
    if (symptom === undefined) return [];
    return slo.alerts.flatMap(({ name, burns }) =>
      burns
        .filter(({ severity }) => severity === 'page')
        .map((burn) => ({
          symptom,
          alert: `${name} ${burn.name}`,
          share: Number((burn.threshold * budgetOf(slo, profile.name)).toPrecision(12)),
          longS: windowS(windowIn(profile, burn.long)),
          shortS: windowS(windowIn(profile, burn.short)),
        })),
    );
  });
}
