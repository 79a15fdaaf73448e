import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { printable } from '../../output/printable.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { type AlertRule, readAlertRules, requireAlertName } from '../../pager/alert-rules.ts';
import { createMatcher, matchesAll } from '../../pager/matcher.ts';
import type { PagerEvent } from '../../pager/page-event.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import type { PagerView, ShownAlert, ShownSilence } from '../../pager/pager-view.ts';
import { findRunbook, type Runbook } from '../../pager/runbook.ts';
import { wasNeverHeard } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { readPagerHistory } from './read-history.ts';
import { describePipeline, describeSilence, describeState, eventRow, formatAge, writeOtherLabels } from './render.ts';

/** What `alerts show --json` prints. */
interface Shown {
  readonly alertname: string;
  readonly rules: readonly AlertRule[];
  /** null: no platform runs. */
  readonly firing: readonly ShownAlert[] | null;
  readonly silences: readonly ShownSilence[];
  readonly history: readonly PagerEvent[];
  readonly runbook: Runbook | null;
}

const NEWEST = 10;

/** `shopctl alerts show NAME`. */
export async function runShow(name: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const [allRules, view] = await Promise.all([readAlertRules(project.root), viewOrNone(project)]);
  const history = await readPagerHistory(project, deps.output);
  const seen = history.flatMap((event) => ('alertname' in event ? [event.alertname] : []));
  requireAlertName(name, allRules, [...seen, ...(view?.alerts ?? []).map(({ alertname }) => alertname)]);
  const rules = allRules.filter(({ alertname }) => alertname === name);
  const firing = view?.alerts.filter(({ alertname }) => alertname === name) ?? null;
  const annotations = rules[0]?.annotations ?? firing?.[0]?.annotations ?? {};
  const shown: Shown = {
    alertname: name,
    rules,
    firing,
    silences: (view?.silences ?? []).filter((silence) => concerns(silence, name, firing ?? [], rules)),
    history: history.filter((event) => 'alertname' in event && event.alertname === name).slice(-NEWEST),
    runbook: (await findRunbook(project.root, annotations.runbook)) ?? null,
  };
  deps.output.result(shown, () => render(shown, view, deps.output.style));
}

async function viewOrNone(project: Project): Promise<PagerView | undefined> {
  try {
    return await createPagerClient(project).view();
  } catch (error) {
    if (wasNeverHeard(error)) return undefined;
    throw error;
  }
}

/** A silence of what fires, or of what a rule would make fire. */
function concerns(
  { matchers }: ShownSilence,
  alertname: string,
  firing: readonly ShownAlert[],
  rules: readonly AlertRule[],
): boolean {
  const compiled = matchers.map(createMatcher);
  const sets = [...firing, ...rules].map(({ labels }) => ({ ...labels, alertname }));
  return sets.some((labels) => matchesAll(compiled, labels));
}

function render(shown: Shown, view: PagerView | undefined, style: Style): string {
  const { alertname, rules, firing, silences, history, runbook } = shown;
  const [first] = rules;
  const { summary, impact, dashboard, slo } = first?.annotations ?? firing?.[0]?.annotations ?? {};
  const severities = [...new Set([...rules, ...(firing ?? [])].map(({ severity }) => severity))].join(', ');
  const facts = [
    ['severity', severities],
    ['summary', summary],
    ['impact', impact],
    ['slo', slo],
    ['dashboard', dashboard],
    ['runbook', describeRunbook(runbook)],
  ].filter((row): row is [string, string] => !!row[1]);
  const blocks = [
    style.bold(printable(alertname)),
    formatTable(
      [],
      facts.map(([key, text]) => [key, printable(text)]),
    ),
  ];
  blocks.push(['now:', ...describeNow(firing, view)].join('\n  '));
  if (silences.length > 0) blocks.push(silences.map(describeSilence).join('\n'));
  for (const rule of rules) blocks.push(describeRule(rule));
  if (history.length > 0) blocks.push(`history:\n${indent(formatTable([], history.map(eventRow)))}`);
  if (runbook !== null && runbook.firstLook.length > 0)
    blocks.push(`first look:\n${indent(runbook.firstLook.join('\n'))}`);
  return blocks.join('\n\n');
}

function describeRunbook(runbook: Runbook | null): string | undefined {
  if (runbook === null) return undefined;
  return runbook.file ?? `${runbook.path} (there is no such file)`;
}

function describeNow(firing: readonly ShownAlert[] | null, view: PagerView | undefined): readonly string[] {
  if (firing === null || view === undefined) return ['unknown: the platform does not run'];
  const nowMs = Date.parse(view.time);
  const problem = describePipeline(view);
  const lines = firing.map(
    (alert) =>
      `${describeState(alert)} for ${formatAge(nowMs - Date.parse(alert.startsAt))}, ${writeOtherLabels(alert.labels)}`,
  );
  if (lines.length === 0) lines.push('it does not fire');
  return problem === undefined ? lines : [...lines, problem];
}

function describeRule({ expression, for: wait, labels }: AlertRule): string {
  return `rule (${writeOtherLabels(labels)}, for ${wait}):\n${indent(expression)}`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
