import type { Style } from '../output/style.ts';
import { formatTable } from '../output/table.ts';
import { cutText } from '../output/width.ts';
import type { SagaStep, StepResult } from './saga-steps.ts';
import { formatOffset } from './times.ts';

const paints = {
  done: 'green',
  refused: 'yellow',
  'no effect': 'dim',
  running: 'cyan',
  waiting: 'yellow',
  'not done': 'dim',
  unknown: 'red',
} as const satisfies Record<StepResult, keyof Style>;

/** STEP, RESULT, AT (relative to the first step), DATABASE and a detail cut to what is left of the width. */
export function formatSteps(steps: readonly SagaStep[], origin: Date, { style, columns }: View): string {
  const cells = steps.map(({ name, result, at, from }) => [
    name,
    style[paints[result]](result),
    at === null ? '-' : formatOffset(at, origin),
    from,
  ]);
  const header = ['STEP', 'RESULT', 'AT', 'DATABASE'];
  const width = formatTable(
    header,
    cells.map((row, index) => [...row.slice(0, 1), steps[index]?.result ?? '', ...row.slice(2)]),
  )
    .split('\n')
    .reduce((widest, line) => Math.max(widest, line.length), 0);
  const room = Math.max(12, columns - width - 2);
  return formatTable(
    [...header, 'DETAIL'],
    cells.map((row, index) => [...row, cutText(steps[index]?.detail ?? '', room)]),
  );
}

/** How wide and how colourful text may be. */
export interface View {
  readonly style: Style;
  readonly columns: number;
}
