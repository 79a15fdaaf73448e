import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { type ClockReading, writeOffset } from '../../operations/clocks.ts';
import { operate } from '../../operations/operations-client.ts';
import { formatTable } from '../../output/table.ts';
import { type ChangingOptions, changeOf } from './changing.ts';

/** `shopctl ops clock ls`. */
export async function runClocks(service: string | undefined, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const report = await operate(deps.projectFrom(options), 'clock-ls', { service });
  deps.output.result(report, ({ clocks }) => describeClocks(clocks));
}

/** `shopctl ops clock sync`. */
export async function runClockSync(
  service: string | undefined,
  options: ChangingOptions,
  deps: CommandDeps,
): Promise<void> {
  const progress = deps.output.progress('comparing clocks');
  try {
    const result = await operate(deps.projectFrom(options), 'clock-sync', { service, ...changeOf(options) });
    progress.stop();
    deps.output.result(result, ({ restarted, dryRun, clocks }) => {
      if (restarted.length === 0) return `no clock is wrong\n${describeClocks(clocks)}`;
      const verb = dryRun ? 'would restart' : 'restarted';
      return clocks
        .filter(({ name }) => restarted.includes(name))
        .map(({ name, offsetMs }) => `${verb} ${name}, whose clock was off by ${writeOffset(offsetMs ?? 0)}`)
        .join('\n');
    });
  } catch (error) {
    progress.fail('clocks not synchronised');
    throw error;
  }
}

export function describeClocks(clocks: readonly ClockReading[]): string {
  return formatTable(
    ['INSTANCE', 'CLOCK', 'OFFSET'],
    clocks.map(({ name, state, offsetMs, why }) => [
      name,
      state,
      offsetMs === null ? (why ?? '-') : writeOffset(offsetMs),
    ]),
  );
}
