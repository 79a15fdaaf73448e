import { toleratedOf } from '../../../scenarios/lib/k6-options.ts';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { formatCount } from '../output/units.ts';
import type { LoadCheck } from './checks.ts';
import type { MeasuredPhase } from './measured.ts';

export interface IterationCoverage {
  readonly phases: readonly Phase[];
  /** Of those, in the same order. */
  readonly measured: readonly MeasuredPhase[];
  /** k6 did what it was asked for; otherwise that it left orders out says nothing about the scenario. */
  readonly hasRun: boolean;
  /** Orders that k6 did not start because no user was free, of the whole run. */
  readonly dropped: number;
  /** What k6 and the script wrote beside the records, line by line. */
  readonly said: readonly string[];
}

/**
 * Whether the iterations of each checked phase left their records. One that throws, or hangs beyond the end of its
 * phase, leaves none and crosses no threshold: thresholds know only records. As many may be missing as may be dropped.
 */
export function checkIterations({ phases, measured, hasRun, dropped, said }: IterationCoverage): readonly LoadCheck[] {
  return measured.flatMap(({ name, due, missing }, index): LoadCheck[] => {
    if (phases[index]?.demands === 'nothing') return [];
    const check = { group: 'k6', name: `iterations of ${name} leave records` } as const;
    const limit = toleratedOf(due);
    const evidence = `${formatCount(missing)} of ${formatCount(due)} left none or not all, at most ${formatCount(limit)} may`;
    if (missing <= limit) return [{ ...check, verdict: 'pass', evidence }];
    const why = [...(dropped > 0 ? [`${formatCount(dropped)} were dropped in the whole run`] : []), ...sampleOf(said)];
    return [{ ...check, verdict: hasRun ? 'fail' : 'unknown', evidence: [evidence, ...why].join('; ') }];
  });
}

const SHOWN_LINES = 3;
const SHOWN_CHARACTERS = 160;
/** k6 says so of crossed thresholds, which are reported one by one. */
const THRESHOLDS_SAID = 'thresholds on metrics';

/** The first lines that differ. What follows the word "customer" is left out: it may be a name. */
function sampleOf(said: readonly string[]): readonly string[] {
  const lines = said.map((line) =>
    line
      .trim()
      .replace(/(customer).*/i, '$1 …')
      .slice(0, SHOWN_CHARACTERS),
  );
  return [...new Set(lines)].filter((line) => line !== '' && !line.startsWith(THRESHOLDS_SAID)).slice(0, SHOWN_LINES);
}
