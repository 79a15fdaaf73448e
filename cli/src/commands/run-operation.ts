import type { CommandDeps, CommonOptions } from '../command-context.ts';
import { askedFrom } from '../platform/change-log.ts';
import { createControlClient } from '../platform/control-client.ts';
import type { OperationRequest, OperationResult } from '../platform/operations.ts';
import { formatDuration } from '../shared/duration.ts';
import type { ReasonOptions } from './reason.ts';

export interface OperationCommandOptions extends CommonOptions, ReasonOptions {
  readonly dryRun?: boolean;
}

/** The words of a command for its operation. */
export interface OperationWords {
  /** `scaling orders` */
  readonly doing: string;
  /** `orders has 3 replicas`: also where it was so before. */
  readonly done: string;
  /** What went wrong, when it did: `orders not scaled`. */
  readonly failed: string;
}

/** `shopctl scale|drain|reroute`: has the supervisor do it, or say what it would do. */
export async function runOperation(
  request: OperationRequest,
  { doing, done, failed }: OperationWords,
  options: OperationCommandOptions,
  deps: CommandDeps,
): Promise<void> {
  const control = createControlClient(deps.projectFrom(options));
  const began = performance.now();
  const progress = deps.output.progress(doing);
  let result: OperationResult;
  try {
    result = await control.operate(request, {
      dryRun: options.dryRun === true,
      asked: askedFrom('command line', options.reason),
    });
    progress.stop();
  } catch (error) {
    progress.fail(failed);
    throw error;
  }
  const tookMs = performance.now() - began;
  deps.output.result({ ...request, ...result, tookMs }, () => {
    if (!result.changed) return `nothing to do: ${done} already`;
    if (!result.dryRun) return `${done} (${formatDuration(tookMs)})`;
    return ['would:', ...result.steps.map(({ text }, index) => `  ${index + 1}. ${text}`)].join('\n');
  });
}
