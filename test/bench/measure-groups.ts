import type { CliError } from '../../cli/src/errors.ts';
import { type ExitCode, exitCodes } from '../../cli/src/exit-codes.ts';
import type { Bench } from './bench.ts';
import type { Group } from './groups.ts';
import { notMeasured } from './program.ts';
import { type Finished, missed } from './report.ts';

/** A group that has no figures, or whose figures could not be kept. */
export interface Failed {
  readonly key: string;
  readonly title: string;
  readonly error: CliError;
}

export interface Outcome {
  readonly finished: readonly Finished[];
  readonly failed: readonly Failed[];
}

/** What happens to each group as soon as it is over, so that a later one that fails loses nothing. */
export interface GroupListener {
  finished(group: Finished): Promise<void>;
  failed(group: Failed): void;
}

/**
 * Measures one group after the other. After each everything that was open is closed. A platform at rest takes some 4 %
 * of two cores, and the next group must not be measured beside that, nor on what a failed one has left behind. Where
 * that cannot be closed, nothing more is measured.
 */
export async function measureGroups(wanted: readonly Group[], bench: Bench, listener: GroupListener): Promise<Outcome> {
  const finished: Finished[] = [];
  const failed: Failed[] = [];
  for (const { key, title, run } of wanted) {
    const fail = (error: unknown) => {
      const one = { key, title, error: notMeasured(error) };
      failed.push(one);
      listener.failed(one);
    };
    bench.say(`${key}: ${title}`);
    try {
      const group = { key, title, ...(await run(bench)) };
      finished.push(group);
      await listener.finished(group);
    } catch (error) {
      fail(error);
    }
    try {
      await bench.closeAll();
    } catch (left) {
      fail(left);
      break;
    }
  }
  return { finished, failed };
}

/** 3 when something could not be measured, 1 when a target was missed; short shots measure too little to miss one. */
export function exitCodeOf({ finished, failed }: Outcome, { quick }: { quick: boolean }): ExitCode {
  if (failed.length > 0) return exitCodes.unavailable;
  return !quick && missed(finished).length > 0 ? exitCodes.failed : exitCodes.ok;
}
