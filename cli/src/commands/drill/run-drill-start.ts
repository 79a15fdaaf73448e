import { userInfo } from 'node:os';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { createDrillClient } from '../../drills/drill-client.ts';
import { renderRound } from '../../drills/render-round.ts';

export interface DrillStartOptions extends CommonOptions {
  readonly level: number;
  /** ms */
  readonly limit: number;
  readonly hints: boolean;
  readonly as?: string;
  readonly seed?: string;
  readonly scenario?: string;
}

/** `shopctl drill start`: the commitment is printed before anything happens. */
export async function runDrillStart(options: DrillStartOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const { level, limit, hints, seed, scenario } = options;
  const round = await createDrillClient(projectFrom(options)).start({
    level,
    limitMs: limit,
    hints,
    trainee: options.as ?? userInfo().username,
    ...(seed !== undefined && { seed }),
    ...(scenario !== undefined && { scenario }),
  });
  output.result(round, () =>
    [
      renderRound(round, output.style),
      '',
      'Keep the commitment. See "shopctl drill page" for pages, and use the commands of an operator.',
    ].join('\n'),
  );
}
