import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { debriefOf, hasScore } from '../../drills/debrief/debrief.ts';
import { renderDebriefPage } from '../../drills/debrief/render-html.ts';
import { renderDebrief } from '../../drills/debrief/render-text.ts';
import { readScenarios } from '../../drills/format/catalog.ts';
import { readHistory } from '../../drills/history.ts';
import { readDrillJournal } from '../../drills/journal/journal-file.ts';
import { progressOf } from '../../drills/progress.ts';
import { renderHistory } from '../../drills/render-history.ts';
import { findRound } from '../../drills/rounds.ts';
import { verifyJournal } from '../../drills/verify.ts';
import { exitCodes } from '../../exit-codes.ts';
import { cloneRoot } from '../../platform/project.ts';
import { writeReportFiles } from '../../report/report-files.ts';

export interface DrillDebriefOptions extends CommonOptions {
  readonly html?: string;
}

/** `shopctl drill debrief`: from the journal alone. With a file the page instead of the text. */
export async function runDrillDebrief(
  name: string | undefined,
  options: DrillDebriefOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const round = await findRound(projectFrom(options), name);
  const journal = await readDrillJournal(round.journal);
  const debrief = debriefOf(journal.records);
  const findings = options.html === undefined ? [] : verifyJournal(journal, await readScenarios(cloneRoot()));
  const written = await writeReportFiles(options, {
    html: () => renderDebriefPage(journal.records, { round: round.id, findings }),
  });
  output.result({ round: round.id, ...debrief, written }, () =>
    written.length > 0 ? `${round.id}: ${written.join(', ')}` : renderDebrief(debrief, output.style),
  );
  if (!hasScore(debrief)) process.exitCode = exitCodes.unknown;
}

/** `shopctl drill history` */
export async function runDrillHistory(options: CommonOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const rounds = await readHistory(projectFrom(options));
  const progress = progressOf(rounds);
  output.result({ rounds, progress }, () => renderHistory(rounds, progress, output));
}
