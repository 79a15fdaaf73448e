import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { readDrillJournal } from '../../drills/journal/journal-file.ts';
import { renderScore } from '../../drills/render-score.ts';
import { findRound } from '../../drills/rounds.ts';
import { isScore, scoreOf } from '../../drills/score/score.ts';
import { verifyJournal } from '../../drills/verify.ts';
import { exitCodes } from '../../exit-codes.ts';
import { renderCheck } from '../../output/check.ts';
import { cloneRoot } from '../../platform/project.ts';
import { exitCodeOf, worst } from '../../shared/verdict.ts';

export interface DrillScoreOptions extends CommonOptions {
  readonly pass?: number;
}

/** `shopctl drill score` */
export async function runDrillScore(
  name: string | undefined,
  options: DrillScoreOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const round = await findRound(projectFrom(options), name);
  const { records } = await readDrillJournal(round.journal);
  const score = scoreOf(records);
  output.result({ round: round.id, ...score }, () =>
    isScore(score) ? renderScore(score, output.style) : `${score.why}: ${score.reason}`,
  );
  if (!isScore(score)) process.exitCode = exitCodes.unknown;
  else if (score.points < (options.pass ?? 0)) process.exitCode = exitCodes.failed;
}

/** `shopctl drill verify` */
export async function runDrillVerify(
  name: string | undefined,
  options: CommonOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const round = await findRound(projectFrom(options), name);
  const checks = verifyJournal(await readDrillJournal(round.journal), await readScenarios(cloneRoot()));
  const verdict = worst(checks.map((check) => check.verdict));
  output.result({ round: round.id, verdict, checks }, () =>
    checks.map((check) => renderCheck(check, output.style)).join('\n'),
  );
  process.exitCode = exitCodeOf(verdict);
}
