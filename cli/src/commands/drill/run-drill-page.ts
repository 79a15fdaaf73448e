import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { reportLook } from '../../drills/report-look.ts';
import { CliError } from '../../errors.ts';
import { formatTable } from '../../output/table.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import type { ShownAlert } from '../../pager/pager-view.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { formatDuration } from '../../shared/duration.ts';

/** The source of a look at pages; "shopctl alerts" has it as well. */
const PAGES = 'pages';

/** `shopctl drill page`: what fires for people, with the place of its runbook. */
export async function runDrillPage(options: CommonOptions, { output, projectFrom }: CommandDeps): Promise<void> {
  const project = projectFrom(options);
  const { alerts, time } = await createPagerClient(project).view();
  await reportLook(project, PAGES);
  const pages = alerts.filter(isForPeople);
  output.result({ pages }, () => {
    if (pages.length === 0) return 'nothing fires';
    const ageOf = ({ startsAt }: ShownAlert) => formatDuration(Date.parse(time) - Date.parse(startsAt));
    const groups = Map.groupBy(pages, ({ alertname, severity, state }) => `${severity} ${alertname} ${state}`);
    const table = formatTable(
      ['ALERT', 'COUNT', 'SEVERITY', 'STATE', 'FIRES FOR'],
      [...groups]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([, all]) => {
          const oldest = all.toSorted((a, b) => a.startsAt.localeCompare(b.startsAt))[0] as ShownAlert;
          const { alertname, severity, state } = oldest;
          return [alertname, String(all.length), severity, state, ageOf(oldest)];
        }),
    );
    // In a column of its table they would be cut off at 80 characters.
    const runbooks = new Set(pages.flatMap(({ annotations }) => annotations.runbook ?? []));
    return [table, '', ...[...runbooks].toSorted().map((runbook) => `runbook  ${runbook}`)].join('\n');
  });
}

/** `shopctl drill ack`: of the only page that waits, or of the one that is named. */
export async function runDrillAck(
  name: string | undefined,
  options: CommonOptions,
  { output, projectFrom }: CommandDeps,
): Promise<void> {
  const client = createPagerClient(projectFrom(options));
  const waiting = (await client.view()).alerts.filter(
    (alert) =>
      isForPeople(alert) && alert.acknowledged === undefined && (name === undefined || alert.alertname === name),
  );
  if (waiting.length === 0) {
    throw new CliError({
      code: 'alert_not_firing',
      what:
        name === undefined ? 'no page waits for an acknowledgement' : `${name} does not wait for an acknowledgement`,
      next: 'see "shopctl drill page"; an incident without a page is declared with "shopctl drill declare"',
    });
  }
  const fingerprints = waiting.map(({ fingerprint }) => fingerprint);
  const acknowledged = await client.acknowledge({ fingerprints, asked: askedFrom('command line') });
  const names = [...new Set(acknowledged.map(({ alertname }) => alertname))];
  output.result({ acknowledged: names }, () => `acknowledged: ${names.join(', ')}`);
}

function isForPeople({ severity }: ShownAlert): boolean {
  return severity === 'page' || severity === 'ticket';
}
