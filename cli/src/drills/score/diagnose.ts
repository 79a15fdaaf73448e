import type { Scenario, ScenarioTruth } from '../format/schema.ts';
import { areAdjacent, familyOf, type Mechanism, placesOf } from '../format/vocabulary.ts';
import { type RecordOf, recordsOf } from '../journal/records.ts';
import { createPart, type Part, rounded } from './part.ts';
import type { Round } from './round.ts';
import { rubric } from './rubric.ts';

type Blame = RecordOf<'blame'>;

interface Missing {
  readonly points: number;
  readonly reason: string;
}

const { points: OF, component: COMPONENT, adjacent, mechanism: MECHANISM, family, scope: SCOPE } = rubric.diagnose;

/** What was named of each truth, at best; two independent failures count half each. */
export function scoreDiagnosis(round: Round): Part {
  const { records, scenario, end } = round;
  const part = createPart('diagnose', OF);
  const blames = recordsOf(records, 'blame').slice(0, rubric.diagnose.tries);
  if (blames.length === 0) {
    part.lose(OF, 'no cause was named', [end.seq]);
    return part.done();
  }
  const best = scenario.truths.map((truth) => ({ truth, ...bestFor(truth, blames) }));
  for (const { truth, blame, missing } of best) {
    for (const { points, reason } of missing)
      part.lose(points / best.length, `${reason}: ${nameOf(truth)}`, [blame.seq]);
  }
  const shownMs = firstShownMs(round);
  const unproved = best.filter(({ truth, blame }) => !hasEvidence(blame, truth, shownMs));
  if (unproved.length > 0) {
    const reason = 'no evidence from after its first sign is about the component';
    part.lose(
      part.left() - rubric.diagnose.withoutEvidence,
      reason,
      unproved.map(({ blame }) => blame.seq),
    );
  }
  for (const blame of blames.filter((one) => isWrong(one, scenario))) {
    part.lose(rubric.diagnose.wrong, `${blame.component} was blamed, and has no part in it`, [blame.seq]);
  }
  const used = recordsOf(records, 'hint').find(({ stage }) => stage === 'locate');
  if (used) part.lose(rubric.hints.locate, 'the hint on where it is', [used.seq]);
  return part.done();
}

const nameOf = ({ component, mechanism, scope }: ScenarioTruth) => `${component}, ${mechanism}, ${scope}`;

function bestFor(
  truth: ScenarioTruth,
  blames: readonly Blame[],
): { readonly blame: Blame; readonly missing: readonly Missing[] } {
  const all = blames.map((blame) => ({ blame, missing: missingOf(blame, truth) }));
  const lost = ({ missing }: (typeof all)[number]) => missing.reduce((sum, { points }) => sum + points, 0);
  return all.toSorted((a, b) => lost(a) - lost(b))[0] as (typeof all)[number];
}

function missingOf({ component, mechanism, scope }: Blame, truth: ScenarioTruth): readonly Missing[] {
  const accepted = truth.accept.find((one) => one.component === component && one.mechanism === mechanism);
  const lost: (Missing | undefined)[] = accepted
    ? [missing(rounded((COMPONENT + MECHANISM) * (1 - accepted.points)), 'right in part')]
    : [
        missing(COMPONENT - pointsOfComponent(component, truth), 'the component is not the one'),
        missing(MECHANISM - pointsOfMechanism(mechanism, truth), 'the mechanism is not the one'),
      ];
  return [...lost, missing(scope === truth.scope ? 0 : SCOPE, 'the scope is not the one')].filter(
    (one) => one !== undefined,
  );
}

function missing(points: number, reason: string): Missing | undefined {
  return points > 0 ? { points, reason } : undefined;
}

function pointsOfComponent(component: string, truth: ScenarioTruth): number {
  if (component === truth.component) return COMPONENT;
  return areAdjacent(component, truth.component) ? adjacent : 0;
}

function pointsOfMechanism(mechanism: Mechanism, truth: ScenarioTruth): number {
  if (mechanism === truth.mechanism) return MECHANISM;
  return familyOf(mechanism) === familyOf(truth.mechanism) ? family : 0;
}

/** Neither the component of a truth, nor one beside it, nor one that is accepted. */
function isWrong({ component }: Blame, { truths }: Scenario): boolean {
  return truths.every(
    (truth) =>
      component !== truth.component &&
      !areAdjacent(component, truth.component) &&
      !truth.accept.some((one) => one.component === component),
  );
}

/** When the failure could be seen first: in the second of the symptom, or by a page that came before customers noticed. */
function firstShownMs({ noticed, symptom, clocks }: Round): number {
  if (symptom === undefined) return 0;
  // A second has what happened since the one before it.
  const began = noticed[noticed.indexOf(symptom) - 1]?.second.ms ?? 0;
  return Math.min(Math.max(began, clocks.injectedMs ?? 0), clocks.pageMs ?? Infinity);
}

function hasEvidence({ evidence }: Blame, { component }: ScenarioTruth, shownMs: number): boolean {
  const places = placesOf(component);
  return evidence.some(
    ({ happenedMs, touches }) =>
      happenedMs >= shownMs && (places.length === 0 || touches.some((one) => places.includes(one))),
  );
}
