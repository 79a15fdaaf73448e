import type { Scenario, ScenarioAction } from '../format/schema.ts';
import type { RecordOf } from '../journal/records.ts';
import { disruptive, rubric } from './rubric.ts';

type Action = RecordOf<'action'>;

/** Whether the scenario names an action as a cure. A replica is one of its service. */
export function isCure(action: Action, { levers }: Pick<Scenario, 'levers'>): boolean {
  return action.failed === undefined && levers.some((lever) => matches(action, lever));
}

function matches({ change, target, to }: Action, wanted: ScenarioAction): boolean {
  if (change !== wanted.change || (wanted.to !== undefined && to !== wanted.to)) return false;
  return wanted.target === undefined || target === wanted.target || target.replace(/-\d+$/, '') === wanted.target;
}

/** An action may have an effect before it is done: customers are served while an instance that was frozen still ends. Pure. */
export function beganMs({ ms, beganMs = ms }: Action): number {
  return Math.min(beganMs, ms);
}

/** What disturbed without need, or destroyed what was evidence. */
export interface Needless {
  readonly action: Action;
  readonly destroys: boolean;
  /** Reverted so soon that it costs nothing, once in a round. */
  readonly isForgiven: boolean;
}

/**
 * Actions without need: those that may disturb and are neither cures of the scenario nor stated as harmless. The last one before
 * customers were served again has cured, whatever the scenario says. Pure.
 */
export function needlessActions(
  actions: readonly Action[],
  scenario: Pick<Scenario, 'levers' | 'harmless'>,
  recoveredMs: number | undefined,
): readonly Needless[] {
  const cured = actions.findLast((one) => one.failed === undefined && beganMs(one) <= (recoveredMs ?? -1));
  const hasLever = actions.some((action) => isCure(action, scenario));
  const isNeedless = (action: Action) =>
    disruptive.has(action.change) &&
    action.failed === undefined &&
    !isCure(action, scenario) &&
    !scenario.harmless.some((one) => matches(action, one)) &&
    (hasLever || action !== cured);
  const reverts = new Set<Action>();
  let isLeft = true;
  const needless: Needless[] = [];
  for (const [index, action] of actions.entries()) {
    if (!isNeedless(action) || reverts.has(action)) continue;
    const revert = actions.slice(index + 1).find((later) => isRevert(later, action));
    if (revert !== undefined) reverts.add(revert);
    const isForgiven = isLeft && revert !== undefined && revert.ms - action.ms <= rubric.safety.undoneWithinMs;
    if (isForgiven) isLeft = false;
    needless.push({ action, destroys: action.change === 'dead-letter' && action.to === 'discarded', isForgiven });
  }
  return needless;
}

/** A revert costs nothing, however late it comes. A second restart is none: nothing was different after the first. */
function isRevert(later: Action, earlier: Action): boolean {
  return (
    earlier.from !== earlier.to &&
    later.target === earlier.target &&
    later.to === earlier.from &&
    later.from === earlier.to
  );
}
