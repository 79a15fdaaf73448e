import { nameOf, type Severity, severityOf } from './alert.ts';
import type { LabelSet } from './label-set.ts';
import { type MatcherFields, writeMatcher } from './matcher.ts';
import type { Acknowledgement } from './page-event.ts';
import type { AlertView, Pager } from './pager.ts';
import type { PipelineStatus } from './pipeline-watch.ts';
import { type Silence, type SilenceState, silenceStateOf } from './silence.ts';

/** What `alerts ls --json` has of an alert that fires. */
export interface ShownAlert {
  readonly fingerprint: string;
  readonly alertname: string;
  readonly severity: Severity;
  readonly state: 'firing' | 'acknowledged' | 'silenced' | 'inhibited';
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
  readonly generatorUrl: string;
  /** ISO times. */
  readonly startsAt: string;
  readonly endsAt: string;
  readonly updatedAt: string;
  readonly notifiedAt?: string;
  readonly escalatedAt?: string;
  readonly acknowledged?: Acknowledgement;
  readonly silencedBy: readonly string[];
  readonly inhibitedBy: readonly string[];
}

export interface ShownSilence {
  readonly id: string;
  readonly state: SilenceState;
  readonly matchers: readonly MatcherFields[];
  /** ISO times. */
  readonly startsAt: string;
  readonly endsAt: string;
  readonly createdBy: string;
  readonly comment: string;
}

/** What a pager knows now. */
export interface PagerView {
  /** ISO time. */
  readonly time: string;
  readonly pipeline: PipelineStatus;
  readonly alerts: readonly ShownAlert[];
  /** The active and the pending ones. */
  readonly silences: readonly ShownSilence[];
  readonly webhook?: { readonly to: string; readonly waiting: number };
}

export function viewPager(pager: Pager, nowMs: number, webhook: string | undefined): PagerView {
  return {
    time: iso(nowMs),
    pipeline: pager.pipeline(),
    alerts: pager.alerts().map(showAlert),
    silences: pager
      .silences()
      .filter((silence) => silenceStateOf(silence, nowMs) !== 'expired')
      .map((silence) => showSilence(silence, nowMs)),
    ...(webhook !== undefined && { webhook: { to: webhook, waiting: pager.deliveries().length } }),
  };
}

export function showAlert(view: AlertView): ShownAlert {
  const { alert, notifiedAtMs, escalatedAtMs, acknowledged, silencedBy, inhibitedBy } = view;
  return {
    fingerprint: alert.fingerprint,
    alertname: nameOf(alert),
    severity: severityOf(alert),
    state: stateOf(view),
    labels: alert.labels,
    annotations: alert.annotations,
    generatorUrl: alert.generatorUrl,
    startsAt: iso(alert.startsAtMs),
    endsAt: iso(alert.endsAtMs),
    updatedAt: iso(alert.updatedAtMs),
    ...(notifiedAtMs !== undefined && { notifiedAt: iso(notifiedAtMs) }),
    ...(escalatedAtMs !== undefined && { escalatedAt: iso(escalatedAtMs) }),
    ...(acknowledged !== undefined && { acknowledged }),
    silencedBy,
    inhibitedBy,
  };
}

function stateOf({ silencedBy, inhibitedBy, acknowledged }: AlertView): ShownAlert['state'] {
  if (silencedBy.length > 0) return 'silenced';
  if (inhibitedBy.length > 0) return 'inhibited';
  return acknowledged === undefined ? 'firing' : 'acknowledged';
}

export function showSilence(silence: Silence, nowMs: number): ShownSilence {
  const { id, matchers, createdBy, comment, startsAtMs, endsAtMs } = silence;
  const state = silenceStateOf(silence, nowMs);
  return { id, state, matchers, startsAt: iso(startsAtMs), endsAt: iso(endsAtMs), createdBy, comment };
}

/** `alertname="OutboxStalled", queue=~"shipping.*"`. */
export function writeMatchers(matchers: readonly MatcherFields[]): string {
  return matchers.map(writeMatcher).join(', ');
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
