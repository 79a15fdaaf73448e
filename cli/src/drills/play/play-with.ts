import { CliError, messageOf } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Project } from '../../platform/project.ts';
import { systemClock } from '../../shared/clock.ts';
import { createDrillClient, type DrillClient } from '../drill-client.ts';
import type { StartRequest } from '../requests.ts';
import { createOperator } from './operator.ts';
import { type PlayedRound, pagesOf, playRound } from './play-round.ts';
import type { Player } from './player.ts';

export interface PlayWithOptions {
  readonly project: Project;
  readonly request: StartRequest;
  readonly player: Player;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  say(line: string): void;
}

const LOOK_EVERY_MS = 500;

/**
 * A round from its start to its end with a program. Rejects where the round cannot be started, and when the signal aborts: the round is
 * aborted then.
 */
export function playWith(options: PlayWithOptions): Promise<PlayedRound> {
  const { project, request, player, env, signal, say } = options;
  const client = createDrillClient(project);
  return playRound({
    project,
    request,
    clock: systemClock,
    signal,
    play: (round) =>
      runProgram({
        client,
        trainee: request.trainee,
        signal,
        say,
        run: (until) =>
          player({
            round,
            project,
            operator: createOperator({ project, env, signal: until }),
            clock: systemClock,
            env,
            pages: () => pagesOf(project),
            status: () => client.status(),
            signal: until,
            say,
          }),
      }),
  });
}

export interface ProgramOptions extends Pick<PlayWithOptions, 'signal' | 'say'> {
  readonly client: Pick<DrillClient, 'status' | 'ask'>;
  readonly trainee: string;
  /** The program, until the round is over or the command is interrupted. */
  run(until: AbortSignal): Promise<void>;
}

/**
 * Runs the program of a round that has begun. One that ends, or fails, before the round is over has given up. Rejects when the signal aborts:
 * the round was interrupted, which says nothing about the program.
 */
export async function runProgram({ client, trainee, signal, say, run }: ProgramOptions): Promise<void> {
  const over = new AbortController();
  const isOver = async () => (await client.status()).ended !== undefined;
  // A supervisor that does not respond is noticed by what waits for the end of the round.
  const watch = setInterval(() => {
    isOver().then(
      (ended) => ended && over.abort(),
      () => undefined,
    );
  }, LOOK_EVERY_MS);
  try {
    await run(AbortSignal.any([over.signal, signal]));
  } catch (error) {
    signal.throwIfAborted();
    // Wrong usage is not a round that was played badly.
    if (error instanceof CliError && error.exitCode === exitCodes.usage) throw error;
    if (!over.signal.aborted) say(`the program failed: ${messageOf(error)}`);
  } finally {
    clearInterval(watch);
  }
  if (await isOver()) return;
  signal.throwIfAborted();
  await client.ask('end', { why: 'gave-up', by: trainee });
}
