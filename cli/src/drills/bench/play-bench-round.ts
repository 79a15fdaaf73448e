import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import type { Scenario } from '../format/schema.ts';
import { isWithoutFailure } from '../format/schema.ts';
import { recordsOf } from '../journal/records.ts';
import { type PlayedRound, pagesOf } from '../play/play-round.ts';
import { playWith } from '../play/play-with.ts';
import type { Player } from '../play/player.ts';
import { untilQuiet } from '../play/until-quiet.ts';
import { isScore, scoreOf } from '../score/score.ts';
import type { BenchRecord } from './bench-journal.ts';
import { type BenchRound, levelOf } from './plan.ts';

export interface BenchRoundOptions {
  /** With a platform that runs. */
  readonly project: Project;
  readonly round: BenchRound;
  readonly scenario: Scenario;
  readonly player: Player;
  readonly limitMs: number;
  /** Gets a copy of the round's journal. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** Plays one round of a bench, and keeps its journal. Rejects when the signal aborts alone: what goes wrong otherwise is in the record. */
export async function playBenchRound(options: BenchRoundOptions): Promise<BenchRecord> {
  const { project, round, scenario, player, limitMs, env, signal, say } = options;
  const startedAt = new Date();
  const began = performance.now();
  const base = {
    type: 'round',
    ...round,
    platform: project.name,
    startedAt: startedAt.toISOString(),
    isWithoutFailure: isWithoutFailure(scenario),
  } as const;
  await untilQuiet(project, signal);
  try {
    const request = {
      level: levelOf(scenario),
      limitMs,
      hints: false,
      trainee: round.player,
      scenario: scenario.id,
      seed: round.seed,
    };
    const played = await playWith({ project, request, player, env, signal, say });
    const journal = await keep(played, options);
    // Alerts look back for minutes, and that of a dead letter never ends; another platform starts in seconds.
    const isQuiet = (played.round.left ?? []).length === 0 && (await pagesOf(project)).length === 0;
    return { ...base, ...resultOf(played), journal, isQuiet, tookMs: Math.round(performance.now() - began) };
  } catch (error) {
    signal.throwIfAborted();
    const nothing = { points: null, parts: [], clocks: null, blames: 0, actions: 0, journal: null, isQuiet: false };
    return { ...base, ...nothing, ended: messageOf(error), tookMs: Math.round(performance.now() - began) };
  }
}

async function keep({ file }: PlayedRound, { folder, round }: BenchRoundOptions): Promise<string> {
  const copy = join(folder, `${round.player}-${round.scenario}-${round.round}.jsonl`);
  await copyFile(file, copy);
  return copy;
}

function resultOf({ journal: { records } }: PlayedRound) {
  const score = scoreOf(records);
  const counted = { blames: recordsOf(records, 'blame').length, actions: recordsOf(records, 'action').length };
  if (!isScore(score))
    return { ...counted, points: null, ended: `${score.why}: ${score.reason}`, parts: [], clocks: null };
  const { points, ended, parts, clocks } = score;
  return { ...counted, points, ended, parts, clocks };
}
