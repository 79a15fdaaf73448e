import { setTimeout as delay } from 'node:timers/promises';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { renderReport } from '../../counters/render.ts';
import { createReport, type Sample } from '../../counters/report.ts';
import { createBackend } from '../../trace/backend.ts';

export interface CountersOptions extends CommonOptions {
  /** Seconds. */
  readonly interval: number;
  readonly once?: boolean;
}

/**
 * Prints a report immediately, with totals, and then one per interval until the command is interrupted. Reports are
 * appended, on a terminal as elsewhere: they can be scrolled, piped and kept.
 */
export async function runCounters(options: CountersOptions, deps: CommandDeps): Promise<void> {
  const { output, signal } = deps;
  const { telemetryUrl } = await deps.connect(deps.projectFrom(options));
  const backend = createBackend(telemetryUrl);
  const sample = async (): Promise<Sample> => ({ time: Date.now(), points: await backend.metrics([]) });

  let before = await sample();
  output.record(createReport(before), (report) => renderReport(report, output.style));
  if (options.once) return;
  for (;;) {
    await delay(options.interval * 1000, undefined, { signal });
    const now = await sample();
    output.record(createReport(now, before), (report) => `\n${renderReport(report, output.style)}`);
    before = now;
  }
}
