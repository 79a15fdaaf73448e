import { availableParallelism } from 'node:os';
import { NotRevertedError } from '../alert-matrix/measure-pair.ts';
import type { CommandDeps } from '../command-context.ts';
import { availableMemory } from '../doctor/machine.ts';
import { exitCodes } from '../exit-codes.ts';
import { endLeftOver } from '../experiments/run/ephemeral-platform.ts';
import { platformsOf } from '../experiments/run/schedule.ts';
import { forwardHangUp } from '../interruption.ts';
import { bundles } from '../platform/bundles.ts';
import type { Project } from '../platform/project.ts';
import { holdRuns } from '../platform/run-lock.ts';
import type { PartEnd } from '../report/line-journal.ts';

/** A run that starts ephemeral platforms. */
export interface OwnPlatformsRun {
  /** What goes on with it after an interruption. */
  readonly command: string;
  readonly project: Project;
  /** Writes the end of this part to its journal. */
  end(line: PartEnd): Promise<void>;
}

/** Measures, and has platforms taken down and faults reverted in any case. An interruption does not reject: the journal has it. */
export async function onOwnPlatforms(
  { command, project, end }: OwnPlatformsRun,
  deps: CommandDeps,
  measure: () => Promise<void>,
): Promise<void> {
  const { output, signal } = deps;
  const over = Promise.withResolvers<void>();
  // A first Ctrl-C aborts the signal: faults are reverted, and platforms taken down.
  deps.onInterrupt(() => over.promise);
  deps.onForce?.(() => output.note('still reverting faults and taking down platforms'));
  forwardHangUp();
  const began = performance.now();
  try {
    await using _ = await holdRuns(project);
    await endLeftOver(project, deps);
    // Once: platforms that start concurrently would build concurrently.
    await bundles(project).buildIfStale((line) => output.note(line));
    await measure();
  } catch (error) {
    if (!signal.aborted) throw error;
    if (error instanceof NotRevertedError) {
      for (const what of error.notReverted) output.warn(`left: ${what}; run "shopctl chaos clear --all"`);
      process.exitCode = exitCodes.dirty;
    }
  } finally {
    const verdict = signal.aborted ? 'interrupted' : 'complete';
    await end({ type: 'end', verdict, tookMs: Math.round(performance.now() - began) });
    if (signal.aborted) output.note(`"${command}" goes on`);
    over.resolve();
  }
}

/** A platform with Prometheus and its load, bytes. */
const BYTES_PER_PLATFORM = 1.3 * 2 ** 30;
const MOST_PLATFORMS = 4;

export async function platformsFor(): Promise<number> {
  const memoryBytes = await availableMemory();
  const many = platformsOf({ cores: availableParallelism(), memoryBytes, bytesPerPlatform: BYTES_PER_PLATFORM });
  return Math.min(many, MOST_PLATFORMS);
}
