import type { CommandDeps } from '../../command-context.ts';
import type { MeasuringPlace } from '../../experiments/run/run-on-platforms.ts';
import type { Scenario } from '../format/schema.ts';
import { openOwnPlatform } from '../play/own-platform.ts';
import { runTrial, type TrialOptions } from './run-trial.ts';
import type { TrialRecord } from './trial.ts';

/** What a run's own platform is given. */
export interface OwnPlaceOptions extends Pick<TrialOptions, 'scenarios' | 'seed' | 'onPlayed'> {
  /** Whose trials these are. */
  readonly project: TrialOptions['project'];
  readonly number: number;
  readonly output: CommandDeps['output'];
}

/** A platform on which scenarios are played one after the other. */
export function openOwnPlace(options: OwnPlaceOptions, deps: CommandDeps): MeasuringPlace<Scenario, TrialRecord> {
  const { scenarios, seed, onPlayed, ...own } = options;
  const common = { scenarios, onPlayed, env: deps.env, signal: deps.signal, ...(seed !== undefined && { seed }) };
  const play = (scenario: Scenario, project: TrialOptions['project']) => runTrial({ ...common, scenario, project });
  return openOwnPlatform({ ...own, scenarioOf: (scenario: Scenario) => scenario, play }, deps);
}

/** Those that need the same replicas one after the other: a platform is started for each number of them. Pure. */
export function inOrder(scenarios: readonly Scenario[]): readonly Scenario[] {
  const replicasOf = ({ needs }: Scenario) => JSON.stringify(needs.replicas);
  return scenarios.toSorted((a, b) => replicasOf(a).localeCompare(replicasOf(b)));
}
