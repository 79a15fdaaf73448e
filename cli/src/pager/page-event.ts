import type { Alert, Severity } from './alert.ts';
import type { LabelSet } from './label-set.ts';
import type { Silence } from './silence.ts';

/** Who did something, and what they said. */
export interface Acknowledgement {
  readonly by: string;
  /** ISO time. */
  readonly time: string;
  readonly note?: string;
}

/** The alert that an event is about: in words, so that history can be read without what it was about. */
interface About {
  readonly fingerprint: string;
  readonly alertname: string;
  readonly severity: Severity;
  readonly labels: LabelSet;
}

/** What a message to the webhook says. */
export type DeliveryAction = 'trigger' | 'acknowledge' | 'resolve';

/** What happened to alerts, in the words of `alerts history`. */
export type PagerFact =
  | (About & { readonly type: 'fired'; readonly alert: Alert; readonly summary?: string })
  /** People are notified: the first time, and once more where there was no acknowledgement. */
  | (About & { readonly type: 'notified' | 'escalated'; readonly summary?: string; readonly delivery?: DeliveryAction })
  | (About & { readonly type: 'acknowledged'; readonly delivery?: DeliveryAction } & Omit<Acknowledgement, 'time'>)
  /** `unreported`: it is over because its source is silent, not because it said so. */
  | (About & {
      readonly type: 'resolved';
      readonly firedMs: number;
      readonly unreported?: boolean;
      readonly delivery?: DeliveryAction;
    })
  /** A silence as it is from now on. */
  | { readonly type: 'silence'; readonly silence: Silence; readonly did: 'created' | 'changed' | 'ended' }
  /** A message to the webhook; `of` is the sequence number of the event that it reports. */
  | { readonly type: 'delivered'; readonly of: number; readonly attempts: number }
  | { readonly type: 'undelivered'; readonly of: number; readonly attempts: number; readonly why: string }
  /** Alerts are not evaluated any more, or are again. */
  | { readonly type: 'pipeline'; readonly status: 'lost' | 'restored'; readonly why: string };

/** A fact that is on disk. */
export type PagerEvent = PagerFact & {
  /** Rises by one. */
  readonly sequence: number;
  /** ISO time, UTC. */
  readonly time: string;
};
