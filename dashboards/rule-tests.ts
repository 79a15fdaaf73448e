import type { Profile } from '../cli/src/slo/profiles.ts';
import type { Slo } from '../cli/src/slo/slo.ts';
import { windowS } from '../cli/src/slo/window.ts';
import type { Alert } from './alerts/alert.ts';
import { alertsOf } from './alerts/all.ts';
import { burnScenarios } from './burn-scenarios.ts';
import {
  type AlertingRule,
  annotationsOf,
  keepFiringFor,
  labelsOf,
  type Rules,
  rulesOf,
  writtenYaml,
} from './rule-files.ts';
import type { RecordingRule, RuleGroup } from './rules.ts';
import type { Expectation, ScenarioFile } from './scenario.ts';
import { scenariosOf } from './scenarios/all.ts';

type AnyRule = AlertingRule | RecordingRule;

/** Every file of promtool tests of a profile. */
export function scenarioFiles(slos: readonly Slo[], profile: Profile): readonly ScenarioFile[] {
  const keepS = windowS(keepFiringFor(profile));
  return [
    ...slos.flatMap((slo) =>
      slo.alerts.flatMap(({ name, burns }) => burns.map((burn) => burnScenarios(slo, name, burn, profile, keepS))),
    ),
    ...scenariosOf(profile, keepS),
  ];
}

/** A file of promtool tests as it is committed. It loads `rules/NAME.yaml` beside it. */
export function ruleTestFile(file: ScenarioFile, slos: readonly Slo[], profile: Profile): string {
  const groups = rulesFor(file, rulesOf(slos, profile));
  const alert = alertsOf(slos, profile).find(({ name, labels }) => name === file.alert && labels?.burn === file.burn);
  if (alert === undefined) throw new Error(`${profile.name} has no alert ${file.alert}`);
  return writtenYaml({
    rule_files: [`rules/${file.name}.yaml`],
    evaluation_interval: `${evaluatedEveryS(file, alert, groups)}s`,
    // Promtool has no order of groups otherwise, and Prometheus one of time.
    group_eval_order: groups.map(({ name }) => name),
    tests: file.scenarios.map(({ name, series, expect }) => ({
      name,
      interval: `${file.stepS}s`,
      input_series: series,
      alert_rule_test: expect.map((one) => alertCase(one, alert)),
    })),
  });
}

/**
 * Promtool takes time for each evaluation, of which many lie between two cases. They are left out where nothing reads their results: the alert
 * has to last for no time, and no recorded series is read over a window.
 */
function evaluatedEveryS(
  { stepS, scenarios }: ScenarioFile,
  alert: Alert,
  groups: readonly RuleGroup<AnyRule>[],
): number {
  if (alert.holdsFor !== undefined || readsRecordedPast(groups)) return stepS;
  const everyS = scenarios.flatMap(({ expect }) => expect.map(({ atS }) => atS)).reduce(greatestCommonDivisor, 0);
  return everyS % stepS === 0 ? everyS : stepS;
}

/** A recorded series with a window, or any subquery. */
const RECORDED_PAST = /\b(?:slo|shop):[\w:]+(?:\{[^}]*\})?\[|\[\w+:\w*\]/;

function readsRecordedPast(groups: readonly RuleGroup<AnyRule>[]): boolean {
  return groups.some(({ rules }) => rules.some(({ expr }) => RECORDED_PAST.test(expr)));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function alertCase({ atS, fires }: Expectation, alert: Alert) {
  return {
    eval_time: `${atS}s`,
    alertname: alert.name,
    exp_alerts: fires.map((labels) => ({
      exp_labels: { ...labelsOf(alert), ...labels },
      exp_annotations: { ...annotationsOf(alert) },
    })),
  };
}

/**
 * The rules that one alert reads, as they are in the two files of the profile. Promtool evaluates all that it loads at each
 * step, and with the whole files that took ten times as long.
 */
export function rulesFor(
  { alert, burn, slo }: ScenarioFile,
  { recording, alerts }: Rules,
): readonly RuleGroup<AnyRule>[] {
  const own = groupsWith(alerts, (rule) => rule.alert === alert && rule.labels.burn === burn);
  const needed = new Set<RecordingRule>();
  const look = (expr: string) => {
    for (const rule of recordedIn(recording, expr).filter(
      (rule) => slo === undefined || (rule.labels?.slo ?? slo) === slo,
    )) {
      if (needed.has(rule)) continue;
      needed.add(rule);
      look(rule.expr);
    }
  };
  for (const { rules } of own) for (const { expr } of rules) look(expr);
  return [...groupsWith(recording, (rule) => needed.has(rule)), ...own];
}

function groupsWith<Rule>(
  groups: readonly RuleGroup<Rule>[],
  isWanted: (rule: Rule) => boolean,
): readonly RuleGroup<Rule>[] {
  return groups
    .map((group) => ({ ...group, rules: group.rules.filter(isWanted) }))
    .filter(({ rules }) => rules.length > 0);
}

/** The recording rules whose series an expression names; with a matcher of `slo`, those of this SLO. */
function recordedIn(recording: Rules['recording'], expr: string): readonly RecordingRule[] {
  const names = [...expr.matchAll(/\b((?:slo|shop):\w+(?::\w+)?)(?:\{slo="([\w-]+)"\})?/g)];
  return names.flatMap(([, name, slo]) =>
    recording.flatMap(({ rules }) =>
      rules.filter(({ record, labels }) => record === name && (slo === undefined || labels?.slo === slo)),
    ),
  );
}
