import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { readAlertRules, requireAlertName } from '../../pager/alert-rules.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import type { ShownAlert } from '../../pager/pager-view.ts';
import { askedFrom } from '../../platform/change-log.ts';
import type { Project } from '../../platform/project.ts';

export interface AckOptions extends CommonOptions {
  readonly all?: boolean;
  readonly note?: string;
}

/** `shopctl alerts ack`. */
export async function runAck(name: string | undefined, options: AckOptions, deps: CommandDeps): Promise<void> {
  if ((name === undefined) === (options.all !== true)) {
    throw new CliError({ code: 'invalid_argument', what: 'expected the name of an alert, or --all' });
  }
  const project = deps.projectFrom(options);
  const client = createPagerClient(project);
  const { alerts } = await client.view();
  const chosen = name === undefined ? alerts.filter(({ severity }) => severity === 'page') : named(name, alerts);
  if (chosen.length === 0 && name !== undefined) throw await notFiring(name, alerts, project);
  const acknowledged = await client.acknowledge({
    fingerprints: chosen.map(({ fingerprint }) => fingerprint),
    ...(options.note !== undefined && { note: options.note }),
    asked: askedFrom('command line', options.note),
  });
  const already = chosen.length - acknowledged.length;
  deps.output.result({ acknowledged, already }, () => {
    if (chosen.length === 0) return 'no page fires';
    const names = [...new Set(acknowledged.map(({ alertname }) => alertname))].join(', ');
    const parts = [
      ...(acknowledged.length > 0 ? [`acknowledged ${acknowledged.length}: ${names}`] : []),
      ...(already > 0 ? [`${already} had been acknowledged`] : []),
    ];
    return parts.join('; ');
  });
}

function named(name: string, alerts: readonly ShownAlert[]): readonly ShownAlert[] {
  return alerts.filter(({ alertname, fingerprint }) => alertname === name || fingerprint === name);
}

/** Throws the error of an unknown name instead. */
async function notFiring(name: string, alerts: readonly ShownAlert[], { root }: Project): Promise<CliError> {
  requireAlertName(
    name,
    await readAlertRules(root),
    alerts.map(({ alertname }) => alertname),
  );
  return new CliError({
    code: 'alert_not_firing',
    what: `${name} does not fire`,
    next: 'see "shopctl alerts ls", and "shopctl alerts history" for what has fired',
  });
}
