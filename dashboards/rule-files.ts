import { stringify } from 'yaml';
import type { Profile } from '../cli/src/slo/profiles.ts';
import type { Slo } from '../cli/src/slo/slo.ts';
import { writeWindow } from '../cli/src/slo/window.ts';
import type { Alert } from './alerts/alert.ts';
import { alertsOf } from './alerts/all.ts';
import { type RecordingRule, type RuleGroup, recordingGroups } from './rules.ts';

/** A rule of Prometheus that fires. */
export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** How long an alert fires on after its condition has ended: one that comes and goes is one alert. */
export function keepFiringFor({ hasSupervisor }: Profile): string {
  return hasSupervisor ? '10s' : '2m';
}

function alertingRule(alert: Alert, profile: Profile): AlertingRule {
  return {
    alert: alert.name,
    expr: alert.expr,
    for: alert.holdsFor ?? '0s',
    keep_firing_for: keepFiringFor(profile),
    labels: labelsOf(alert),
    annotations: annotationsOf(alert),
  };
}

export function labelsOf({ severity, labels, slo }: Alert): Readonly<Record<string, string>> {
  return { severity, ...(slo !== 'none' && { slo }), ...labels };
}

export function annotationsOf({ name, summary, impact, dashboard, slo }: Alert): Readonly<Record<string, string>> {
  return { summary, impact, runbook: runbookOf(name), dashboard: `/d/shop-${dashboard}`, slo };
}

/** A page of an alert's cause and cure, in the repository. */
export function runbookOf(alert: string): string {
  return `docs/runbooks/${alert}.md`;
}

/** The groups of both files of a profile. */
export interface Rules {
  readonly recording: readonly RuleGroup<RecordingRule>[];
  readonly alerts: readonly RuleGroup<AlertingRule>[];
}

export function rulesOf(slos: readonly Slo[], profile: Profile): Rules {
  const alerts = alertsOf(slos, profile);
  const interval = writeWindow(profile.scrapeMs);
  const severities = ['page', 'ticket', 'cause', 'none'] as const;
  return {
    recording: recordingGroups(slos, profile).filter(({ rules }) => rules.length > 0),
    alerts: severities.map((severity) => ({
      name: `shop-${severity === 'none' ? 'watchdog' : severity}`,
      interval,
      rules: alerts.filter((alert) => alert.severity === severity).map((alert) => alertingRule(alert, profile)),
    })),
  };
}

/** A file of rules as it is committed. */
export function ruleFile(groups: readonly RuleGroup<object>[]): string {
  return writtenYaml({ groups });
}

/** YAML with the line that generated files begin with. */
export function writtenYaml(value: unknown): string {
  const text = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Written by npm run generate from dashboards/*.ts and dashboards/slos/.\n${text}`;
}
