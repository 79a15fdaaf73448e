import type { Project } from '../../platform/project.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { Scenario } from '../format/schema.ts';
import type { ShownRound } from '../requests.ts';
import type { Operator } from './operator.ts';

/** What a program that plays a round is given. */
export interface PlaySession {
  readonly round: ShownRound;
  readonly project: Project;
  readonly operator: Operator;
  readonly clock: RunClock;
  readonly env: NodeJS.ProcessEnv;
  /** Names of the pages and tickets that fire. */
  pages(): Promise<readonly string[]>;
  /** The round as its trainee sees it. */
  status(): Promise<Pick<ShownRound, 'phase' | 'ended'>>;
  /** Aborts when the round is over, or the command is interrupted. */
  readonly signal: AbortSignal;
  /** What a program writes for people. */
  say(line: string): void;
}

/** Plays a round. One that ends while the round is on has given up. */
export type Player = (session: PlaySession) => Promise<void>;

/** A player that a bench knows by name. Its rounds have no other program. */
export interface NamedPlayer {
  readonly name: string;
  /** Of the scenario: only a reference solution looks at it. */
  playerFor(scenario: Scenario, seed: string): Player;
}
