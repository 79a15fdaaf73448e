import { readFile } from 'node:fs/promises';
import type { CommandDeps } from '../../command-context.ts';
import { agentPlayer } from '../../drills/play/agent-player.ts';
import { runJsonSession } from '../../drills/play/json-session.ts';
import { playWith } from '../../drills/play/play-with.ts';
import type { Player } from '../../drills/play/player.ts';
import { scriptPlayer } from '../../drills/play/script-player.ts';
import { renderScore } from '../../drills/render-score.ts';
import { isScore, scoreOf } from '../../drills/score/score.ts';
import { CliError, messageOf } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type DrillStartOptions, requestOf } from './run-drill-start.ts';

export interface DrillPlayOptions extends DrillStartOptions {
  readonly script?: string;
  readonly agent?: string;
  readonly pass?: number;
}

/** `shopctl drill play`: a round without a person. Without a program the standard streams are one. */
export async function runDrillPlay(
  pack: string | undefined,
  options: DrillPlayOptions,
  deps: CommandDeps,
): Promise<void> {
  const { output, env, signal } = deps;
  const player = await playerOf(options);
  const request = await requestOf(pack, options, deps);
  const over = Promise.withResolvers<void>();
  // The first Ctrl-C aborts the signal: the round is aborted, and reverted.
  deps.onInterrupt(() => over.promise);
  try {
    const project = deps.projectFrom(options);
    const { round, journal } = await playWith({
      project,
      request,
      player,
      env,
      signal,
      say: (line) => output.note(line),
    });
    const score = scoreOf(journal.records);
    output.result({ round: round.id, ...score, hash: round.hash }, () =>
      isScore(score) ? renderScore(score, output.style) : `${score.why}: ${score.reason}`,
    );
    if (!isScore(score)) process.exitCode = exitCodes.unknown;
    else if (score.points < (options.pass ?? 0)) process.exitCode = exitCodes.failed;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.resolve();
  }
}

async function playerOf({ script, agent }: DrillPlayOptions): Promise<Player> {
  if (script !== undefined && agent !== undefined) {
    throw new CliError({
      code: 'invalid_usage',
      what: '--script and --agent exclude each other',
      next: 'leave one of them out',
    });
  }
  if (agent !== undefined) return agentPlayer(agent);
  if (script !== undefined) return scriptPlayer(await textOf(script), script);
  return (session) => runJsonSession({ input: process.stdin, output: process.stdout }, session);
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError({
      code: 'invalid_script',
      what: `cannot read ${file}`,
      why: messageOf(cause),
      next: 'name a file with one line for each step',
      cause,
    });
  });
}
