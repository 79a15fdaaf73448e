import type { PageId } from '../model.ts';

/**
 * `page`: a customer notices, and a person must act now. `ticket`: a person must act, not now. `cause`: explains a page,
 * wakes up no one, and is hidden while there is one. `none`: the watchdog.
 */
export type Severity = 'page' | 'ticket' | 'cause' | 'none';

/** An alert in a profile. Labels and annotations hold no values, so that an alert is the same one as long as it fires. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** Beside `severity` and `slo`. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly expr: string;
  /** How long the condition must hold. Burn rates need none: their two windows are that. */
  readonly holdsFor?: string;
  readonly summary: string;
  /** Who notices what. */
  readonly impact: string;
  readonly dashboard: PageId;
  /** The SLO that it defends; none where no SLO counts it. */
  readonly slo: string | 'none';
}

/** Windows in which orders that fail one after the other are looked for, where there are few. */
export const LOW_TRAFFIC_WINDOWS = ['2m', '5m', '10m'] as const;

export function and(...conditions: readonly string[]): string {
  return conditions.join('\nand ');
}
