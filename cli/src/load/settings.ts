import {
  MIN_DURATION_WITH_FAULT_S,
  type Scenario,
  type ScenarioName,
  type Settings,
  scenarioNames,
  scenarios,
} from '../../../scenarios/lib/scenarios.ts';
import { CliError } from '../errors.ts';
import { suggestName } from '../shared/suggest-name.ts';

/** What a user may say; the rest is the scenario's own. */
export interface SettingOptions {
  /** Orders a second. */
  readonly rate?: number;
  /** ms. */
  readonly duration?: number;
  readonly vus?: number;
}

/** The scenario of this name. Throws CliError (2) with the nearest one. */
export function findScenario(name: string): Scenario {
  if ((scenarioNames as readonly string[]).includes(name)) return scenarios[name as ScenarioName];
  const suggestion = suggestName(name, scenarioNames);
  throw new CliError({
    code: 'unknown_scenario',
    what: `there is no scenario "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `scenarios are ${scenarioNames.join(', ')}; "shopctl load list" says what each does`,
  });
}

/** The scenario's settings with what was said instead. Throws CliError (2) with every problem. */
export function resolveSettings(scenario: Scenario, options: SettingOptions, hasFault: boolean): Settings {
  const settings: Settings = {
    rate: options.rate ?? scenario.defaults.rate,
    durationS: options.duration === undefined ? defaultDurationS(scenario, hasFault) : options.duration / 1000,
    vus: options.vus ?? scenario.defaults.vus,
    hasFault,
  };
  const problems = problemsOf(scenario, options, settings);
  if (problems.length === 0) return settings;
  throw new CliError({
    code: 'invalid_load',
    what: `${scenario.name} cannot be run like this`,
    why: problems.join('\n'),
    next: '"shopctl load list" shows the settings of each scenario',
  });
}

/** A short scenario automatically becomes long enough for a fault; a given duration is kept. */
function defaultDurationS({ defaults }: Scenario, hasFault: boolean): number {
  return hasFault ? Math.max(defaults.durationS, MIN_DURATION_WITH_FAULT_S) : defaults.durationS;
}

function problemsOf(
  scenario: Scenario,
  options: SettingOptions,
  { durationS, rate, vus, hasFault }: Settings,
): string[] {
  const isPaced = scenario.defaults.rate > 0;
  const minS = hasFault ? MIN_DURATION_WITH_FAULT_S : scenario.minDurationS;
  const problems: string[] = [];
  if (!isPaced && options.rate !== undefined)
    problems.push('--rate: its users wait for their responses, so that the rate follows from --vus');
  if (isPaced && rate < 1) problems.push('--rate: at least 1 order a second');
  if (vus < 1) problems.push('--vus: at least 1');
  if (durationS < minS || !Number.isInteger(durationS))
    problems.push(`--duration: whole seconds, at least ${minS}s${hasFault ? ' with --chaos' : ''}, got ${durationS}s`);
  if (hasFault && !scenario.isSteady)
    problems.push(
      '--chaos: its own load changes, so that the effect of the fault could not be distinguished; choose steady',
    );
  return problems;
}
