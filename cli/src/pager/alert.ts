import { fingerprintOf, type LabelSet } from './label-set.ts';

/** What an alert asks for: `page` interrupts a person, `ticket` waits for working hours, `cause` explains; `none` is only recorded. */
export type Severity = 'page' | 'ticket' | 'cause' | 'none';

/** An alert as Prometheus reports it. Times in ms since 1970. */
export interface Alert {
  readonly fingerprint: string;
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
  readonly generatorUrl: string;
  readonly startsAtMs: number;
  /** Until when it fires if nothing more is heard of it; in the past: since when it is resolved. */
  readonly endsAtMs: number;
  readonly updatedAtMs: number;
  /** Its end was not reported; it is the time after which we give it up. */
  readonly isTimeout: boolean;
}

/** What a client may leave out. */
export interface ReportedAlert {
  readonly labels: LabelSet;
  readonly annotations?: LabelSet;
  readonly generatorUrl?: string;
  readonly startsAtMs?: number | undefined;
  readonly endsAtMs?: number | undefined;
}

/** After so long without a word an alert without `endsAt` is over. Source: Alertmanager, default of `resolve_timeout`. */
const RESOLVE_TIMEOUT_MS = 5 * 60_000;

/** Completes what was reported. */
export function toAlert(reported: ReportedAlert, nowMs: number): Alert {
  const { labels, annotations = {}, generatorUrl = '', startsAtMs, endsAtMs } = reported;
  return {
    fingerprint: fingerprintOf(labels),
    labels,
    annotations,
    generatorUrl,
    startsAtMs: startsAtMs ?? endsAtMs ?? nowMs,
    endsAtMs: endsAtMs ?? nowMs + RESOLVE_TIMEOUT_MS,
    updatedAtMs: nowMs,
    isTimeout: endsAtMs === undefined,
  };
}

export function isFiring({ endsAtMs }: Pick<Alert, 'endsAtMs'>, nowMs: number): boolean {
  return endsAtMs > nowMs;
}

/**
 * What is known of an alert after another report of it: where the two overlap in time they are one, which began when the earlier
 * one did. Source: Alertmanager, `provider/mem/mem.go` (`Put`) and `alert/alert.go` (`Merge`).
 */
export function mergeAlerts(old: Alert, young: Alert, nowMs: number): Alert {
  const isWithin = (time: number) => time > old.startsAtMs && time < old.endsAtMs;
  if (!isWithin(young.endsAtMs) && !isWithin(young.startsAtMs)) return young;
  const startsAtMs = Math.min(old.startsAtMs, young.startsAtMs);
  const oldWins = isFiring(young, nowMs) ? !old.isTimeout : !isFiring(old, nowMs);
  const endsAtMs = oldWins ? Math.max(old.endsAtMs, young.endsAtMs) : young.endsAtMs;
  return { ...young, startsAtMs, endsAtMs };
}

export function nameOf({ labels }: Pick<Alert, 'labels'>): string {
  return labels.alertname ?? '';
}

export function severityOf({ labels }: Pick<Alert, 'labels'>): Severity {
  const { severity } = labels;
  return severity === 'page' || severity === 'ticket' || severity === 'cause' ? severity : 'none';
}
