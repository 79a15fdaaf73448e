import { parse } from 'yaml';
import { CliError, messageOf } from '../errors.ts';
import { type Rules, rulesOfClone } from '../providers/prometheus/files.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { type Severity, severityOf } from './alert.ts';
import type { LabelSet } from './label-set.ts';

/** One rule of the clone by which an alert fires. Several may have the same alert, with other labels. */
export interface AlertRule {
  readonly alertname: string;
  readonly severity: Severity;
  readonly expression: string;
  /** How long the expression has to hold: `5s`. */
  readonly for: string;
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
}

interface RuleFile {
  readonly groups?: readonly { readonly rules?: readonly RawRule[] }[];
}

interface RawRule {
  readonly alert?: string;
  readonly expr?: string;
  readonly for?: string;
  readonly labels?: LabelSet;
  readonly annotations?: LabelSet;
}

/** The alerting rules that Prometheus is started with, by their order in the files. Throws CliError (2) for one that is not YAML. */
export async function readAlertRules(root: string): Promise<readonly AlertRule[]> {
  return alertRulesIn(await rulesOfClone(root));
}

/** The alerting rules of files by their names. Throws CliError (2) for one that is not YAML. Pure. */
export function alertRulesIn(files: Rules): readonly AlertRule[] {
  return [...files].flatMap(([name, text]) => rulesIn(name, text));
}

function rulesIn(name: string, text: string): readonly AlertRule[] {
  let file: RuleFile;
  try {
    file = (parse(text) ?? {}) as RuleFile;
  } catch (cause) {
    throw new CliError({ code: 'invalid_alert_rules', what: `${name} is not YAML`, why: messageOf(cause), cause });
  }
  const rules = (file.groups ?? []).flatMap((group) => group.rules ?? []);
  return rules.flatMap(({ alert, expr = '', for: wait = '0s', labels = {}, annotations = {} }) =>
    alert === undefined
      ? []
      : [{ alertname: alert, severity: severityOf({ labels }), expression: expr, for: wait, labels, annotations }],
  );
}

/** Throws CliError (2), with the nearest name, where no rule and no alert has it. */
export function requireAlertName(name: string, rules: readonly AlertRule[], firing: readonly string[]): void {
  const known = [...new Set([...rules.map(({ alertname }) => alertname), ...firing])].toSorted();
  if (known.includes(name)) return;
  const suggestion = suggestName(name, known);
  throw new CliError({
    code: 'unknown_alert',
    what: `unknown alert "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: known.length > 0 ? `there are ${known.join(', ')}` : 'no rule is in dashboards/prometheus/laptop',
  });
}
