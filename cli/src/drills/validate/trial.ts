import type { CheckResult, Verdict } from '../../shared/verdict.ts';
import type { Leak } from '../leak/find-leaks.ts';
import type { PlayedLine } from '../play/play-reference.ts';

/** One claim of a scenario, as a round showed it. */
export type TrialCheck = CheckResult<Verdict> & {
  readonly id: 'round' | 'witness' | 'symptom' | 'pages' | 'reference' | 'leaks' | 'sealed' | 'clean';
};

/** One round of a scenario with its reference solution, as it was evaluated. */
export interface TrialRecord {
  readonly type: 'trial';
  readonly scenario: string;
  /** The project of the platform. */
  readonly platform: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly tookMs: number;
  /** Id of the round; undefined where none was started. */
  readonly round?: string;
  /** Undefined: it has no score. */
  readonly points?: number;
  readonly played: readonly PlayedLine[];
  readonly leaks: readonly Leak[];
  /** What the round has done to the platform, and could not revert. Undefined: nothing. */
  readonly unreverted?: readonly string[];
  readonly checks: readonly TrialCheck[];
  /** Nothing of it is left on the platform, no alert either: another round may follow. */
  readonly isQuiet: boolean;
}
