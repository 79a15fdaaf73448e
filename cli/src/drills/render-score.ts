import type { Style } from '../output/style.ts';
import { formatTable } from '../output/table.ts';
import { formatDuration } from '../shared/duration.ts';
import type { Part } from './score/part.ts';
import type { Clocks } from './score/round.ts';
import type { Score } from './score/score.ts';

/** A score for people: points by part, why some are missing, and the clocks. */
export function renderScore({ scenario, points, parts, clocks, ended, rubric }: Score, style: Style): string {
  const head = `${style.bold(`${points} of 100`)}  ${scenario}, ${ended}, rubric ${rubric}`;
  return [head, '', ...parts.flatMap((part) => renderPart(part, style)), '', renderClocks(clocks)].join('\n');
}

function renderPart({ name, of, points, losses }: Part, style: Style): readonly string[] {
  const lines = losses.map(({ points, reason, evidence }) => {
    const records = `${evidence.length === 1 ? 'record' : 'records'} ${evidence.join(', ')}`;
    return `  -${points}  ${reason} ${style.dim(`(${records})`)}`;
  });
  return [`${name.padEnd(10)} ${points} of ${of}`, ...lines];
}

const NAMES = {
  injectedMs: 'injected',
  witnessedMs: 'witnessed',
  symptomMs: 'symptom',
  pageMs: 'page',
  detectedMs: 'first response',
  diagnosedMs: 'right diagnosis',
  leverMs: 'cure',
  recoveredMs: 'served again',
  endMs: 'end',
} as const satisfies Record<keyof Clocks, string>;
/** The clocks of a score, in their order, with their names for people. */
export const CLOCK_NAMES = Object.entries(NAMES) as readonly (readonly [keyof Clocks, string])[];

function renderClocks(clocks: Clocks): string {
  const { symptomMs } = clocks;
  const rows = CLOCK_NAMES.flatMap(([key, name]) => {
    const ms = clocks[key];
    if (ms === undefined) return [];
    const after =
      symptomMs !== undefined && ms > symptomMs ? `${formatDuration(ms - symptomMs)} after the symptom` : '';
    return [[name, formatDuration(ms), after]];
  });
  return formatTable([], rows);
}
