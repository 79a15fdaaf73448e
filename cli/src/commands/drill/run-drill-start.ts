import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { createDrillClient } from '../../drills/drill-client.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { readHistory } from '../../drills/history.ts';
import { levelProgress, weakWeights } from '../../drills/progress.ts';
import { renderRound } from '../../drills/render-round.ts';
import type { StartRequest } from '../../drills/requests.ts';
import type { Envelope } from '../../drills/seal/envelope.ts';
import { openPack, parsePack } from '../../drills/seal/pack.ts';
import { CliError, messageOf } from '../../errors.ts';
import { readPassphrase } from './passphrase.ts';

export interface DrillStartOptions extends CommonOptions {
  readonly level: number;
  /** ms */
  readonly limit: number;
  readonly hints: boolean;
  readonly as?: string;
  readonly seed?: string;
  readonly scenario?: string;
  readonly weak?: boolean;
  readonly exam?: boolean;
  readonly passphraseFile?: string;
}

/** `shopctl drill start`: the commitment is printed before anything happens. */
export async function runDrillStart(
  pack: string | undefined,
  options: DrillStartOptions,
  deps: CommandDeps,
): Promise<void> {
  const round = await createDrillClient(deps.projectFrom(options)).start(await requestOf(pack, options, deps));
  deps.output.result(round, () =>
    [
      renderRound(round, deps.output.style),
      '',
      'Keep the commitment. "shopctl drill page" has the pages; cures are the commands',
      'of an operator.',
    ].join('\n'),
  );
}

/** What is asked of the supervisor. Throws CliError (2) for what does not go together, and for a level that is locked. */
export async function requestOf(
  pack: string | undefined,
  options: DrillStartOptions,
  deps: CommandDeps,
): Promise<StartRequest> {
  const { level, limit, hints, seed, scenario, weak = false, exam = false, passphraseFile } = options;
  const trainee = options.as ?? userInfo().username;
  const isKnown = seed !== undefined || scenario !== undefined;
  refuseUnclear({ pack, isKnown, weak, exam, passphraseFile });
  const common = { limitMs: limit, hints, trainee, ...(exam && { exam }) };
  if (pack !== undefined) {
    const envelope = await envelopeOf(pack, passphraseFile, deps.signal);
    return { ...common, level: envelope.level, envelope };
  }
  const project = deps.projectFrom(options);
  // A known round counts nowhere, so nothing is gained by it.
  const rounds = isKnown ? [] : await readHistory(project);
  const { isUnlocked, missing } = levelProgress(level, trainee, rounds);
  if (!isUnlocked && !isKnown) {
    throw new CliError({
      code: 'drill_locked',
      what: `level ${level} is locked for ${trainee}`,
      why: `it takes ${missing} more ${missing === 1 ? 'round' : 'rounds'} of level ${level - 1} with 70 points or more`,
      next: `play level ${level - 1}, or a round that does not count with --seed`,
    });
  }
  return {
    ...common,
    level,
    ...(seed !== undefined && { seed }),
    ...(scenario !== undefined && { scenario }),
    ...(weak && { weights: weakWeights(await readScenarios(project.root), rounds) }),
  };
}

function refuseUnclear({
  pack,
  isKnown,
  weak,
  exam,
  passphraseFile,
}: {
  readonly pack: string | undefined;
  readonly isKnown: boolean;
  readonly weak: boolean;
  readonly exam: boolean;
  readonly passphraseFile: string | undefined;
}): void {
  const refuse = (what: string, next: string) => {
    throw new CliError({ code: 'invalid_usage', what, next });
  };
  if (pack !== undefined && (isKnown || weak))
    refuse('a sealed round has its seed and its scenario', 'leave --seed, --scenario and --weak out');
  if (pack === undefined && passphraseFile !== undefined) refuse('no sealed round was named', 'name its file');
  if (exam && isKnown) refuse('an exam is of an unknown round', 'leave --seed and --scenario out');
  if (weak && isKnown) refuse('a known round is not drawn by what was weak', 'leave --weak out');
}

async function envelopeOf(file: string, passphraseFile: string | undefined, signal: AbortSignal): Promise<Envelope> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError({
      code: 'invalid_pack',
      what: `cannot read ${file}`,
      why: messageOf(cause),
      next: 'name a file of "shopctl drill seal"',
      cause,
    });
  });
  const pack = parsePack(text, file);
  return openPack(pack, await readPassphrase(passphraseFile, signal));
}
