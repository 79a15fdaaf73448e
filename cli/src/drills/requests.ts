import type { RoundStatus } from './engine/round-types.ts';
import type { Mechanism, Scope } from './format/vocabulary.ts';
import type { Envelope } from './seal/envelope.ts';

/** The body of `POST /v1/drill/start`. */
export interface StartRequest {
  readonly level: number;
  readonly limitMs: number;
  readonly hints: boolean;
  readonly trainee: string;
  /** Makes the round known: it counts in no average. */
  readonly seed?: string;
  /** The only one that can be drawn; known as well. */
  readonly scenario?: string;
  /** By scenario; those that are not named have 1. */
  readonly weights?: Readonly<Record<string, number>>;
  /** A round that a facilitator has sealed. Neither seed nor scenario then. */
  readonly envelope?: Envelope;
  /** Without hints, and void when the trainee looks at what keeps the failure. Neither seed nor scenario then. */
  readonly exam?: boolean;
}

/** A round as its trainee sees it. */
export interface ShownRound extends RoundStatus {
  readonly id: string;
  /** Once it is over: what could not be reverted, and what could not be looked at. */
  readonly left?: readonly string[];
  readonly problems?: readonly string[];
  /** Of the journal's last record. */
  readonly hash?: string;
}

export interface BlameRequest {
  readonly component: string;
  readonly mechanism: Mechanism;
  readonly scope: Scope;
  readonly references: readonly string[];
  readonly by: string;
}

/** The bodies of the other requests by the last part of their route. */
export interface DrillRequests {
  readonly declare: { readonly text: string; readonly by: string };
  readonly note: { readonly text: string; readonly by: string };
  readonly update: { readonly text: string; readonly by: string };
  readonly blame: BlameRequest;
  /** Without `take` its cost alone. */
  readonly hint: { readonly take: boolean };
  readonly fixed: { readonly by: string };
  readonly 'all-clear': { readonly by: string };
  /** Resolves when everything is reverted. */
  readonly end: { readonly why: 'gave-up' | 'aborted'; readonly by: string };
  readonly look: { readonly source: string };
}
