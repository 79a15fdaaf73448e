import type { Mechanism, Scope } from '../format/vocabulary.ts';
import type { DrillEvent, EndReason, Strength } from '../journal/records.ts';
import type { rubric } from '../score/rubric.ts';
import type { Envelope } from '../seal/envelope.ts';

export interface RoundSettings {
  readonly envelope: Envelope;
  readonly strength: Strength;
  readonly isSeedKnown: boolean;
  readonly limitMs: number;
  readonly hints: boolean;
  readonly trainee: string;
}

/** What a trainee sees of a round; the same with a failure and without. */
export interface RoundStatus {
  readonly phase: 'starting' | 'on-call' | 'checking' | 'ended';
  readonly commitment: string;
  readonly level: number;
  readonly strength: Strength;
  readonly elapsedMs: number;
  readonly limitMs: number;
  readonly tries: number;
  /** What hints have cost so far. */
  readonly hintPoints: number;
  readonly ended?: { readonly why: EndReason; readonly reason: string };
}

/** What a trainee does. */
export interface Blame {
  readonly component: string;
  readonly mechanism: Mechanism;
  readonly scope: Scope;
  readonly references: readonly string[];
}

export interface Hint {
  readonly stage: keyof typeof rubric.hints;
  readonly cost: number;
  readonly text: string;
}

export interface Round {
  status(): RoundStatus;
  /** Something that the platform or the trainee did, at its time. */
  record(
    event: Extract<
      DrillEvent,
      { readonly type: 'page' | 'ack' | 'declare' | 'note' | 'update' | 'action' | 'look' | 'peek' }
    >,
  ): void;
  /** Throws CliError (2) where an evidence does not exist, or there is no try left. */
  blame(blame: Blame, by: string): Promise<void>;
  /** The next hint, without giving it; undefined when there is no other. */
  nextHint(): Hint | undefined;
  takeHint(): Hint;
  /** Customers are looked at for a minute; the round goes on where they are not served. */
  fixed(by: string): void;
  allClear(by: string): void;
  end(why: 'gave-up' | 'aborted' | 'void', reason: string): void;
  /** Resolves when the round is over, everything is reverted, and the journal is closed. */
  readonly done: Promise<RoundResult>;
}

export interface RoundResult {
  readonly why: EndReason;
  readonly reason: string;
  /** What could not be reverted. */
  readonly left: readonly string[];
  /** What could not be looked at; the score has no losses for it. */
  readonly problems: readonly string[];
  /** Hash of the journal's last record. */
  readonly hash: string;
}
