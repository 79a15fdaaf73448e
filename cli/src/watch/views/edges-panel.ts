import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { edges as topology } from '../../topology/services.ts';
import type { EdgeFigures } from '../model/figures.ts';
import { breakerSigns } from './signs.ts';
import { fitLines, msText, rateText, rowOf } from './text.ts';

export interface EdgesProps {
  readonly edges: Readonly<Record<string, EdgeFigures>>;
  /** Why there are no figures, or old ones. */
  readonly problem: string | undefined;
  /** Targets of active faults. */
  readonly faulty: ReadonlySet<string>;
  readonly height: number;
  readonly style: Style;
}

/** What passes over each edge, as its caller sees it, and its breaker; the edges of calls first. */
export const EdgesPanel = memo(({ edges, problem, faulty, height, style }: EdgesProps) => {
  const header = rowOf([
    [' EDGE', 18],
    ['BREAKER', 13],
    ['RETRIES/S', -18],
    ['REQ/S', -8],
    ['ERR/S', -7],
    ['P50', -8],
    ['P95', -8],
  ]);
  const trouble =
    problem === undefined
      ? undefined
      : rowOf([
          [' EDGE', 18],
          [problem, 62],
        ]);
  const lines = [
    trouble === undefined ? style.bold(header) : style.red(trouble),
    ...topology.map(({ name }) => line(name, edges[name], faulty.has(name), style)),
  ];
  return h(Text, null, fitLines(lines, height));
});

function line(name: string, figures: EdgeFigures | undefined, isFaulty: boolean, style: Style): string {
  const { breaker, retriesPerSecond = 0, perSecond = 0, errorsPerSecond = 0, p50Ms, p95Ms } = figures ?? {};
  const state = breaker === undefined ? undefined : breakerSigns[breaker];
  return rowOf([
    [`${isFaulty ? '▒' : ' '}${name}`, 18, isFaulty ? style.magenta : undefined],
    [
      state === undefined ? '-' : `${state.sign} ${state.word}`,
      13,
      state === undefined ? style.dim : style[state.colour],
    ],
    [state === undefined ? '' : rateText(retriesPerSecond), -18, retriesPerSecond > 0 ? style.yellow : undefined],
    [rateText(perSecond), -8],
    [rateText(errorsPerSecond), -7, errorsPerSecond > 0 ? style.red : undefined],
    [msText(p50Ms), -8],
    [msText(p95Ms), -8],
  ]);
}
