import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { printable } from '../../output/printable.ts';
import type { Severity } from '../../pager/alert.ts';
import type { PagerEvent } from '../../pager/page-event.ts';
import { createPagerClient, type PagerClient } from '../../pager/pager-client.ts';
import type { PagerView, ShownAlert } from '../../pager/pager-view.ts';
import { notifyDesktop, ringText } from '../../pager/ring.ts';
import { notRunning } from '../../platform/control-client.ts';
import { eventRow, renderAlerts, sortAlerts } from './render.ts';

export interface ListOptions extends CommonOptions {
  readonly severity?: readonly Severity[];
  readonly follow?: boolean;
  readonly notify?: boolean;
}

/** `shopctl alerts ls`. */
export async function runList(options: ListOptions, deps: CommandDeps): Promise<void> {
  if (options.notify && !options.follow) {
    throw new CliError({ code: 'invalid_argument', what: '--notify needs --follow', next: 'add --follow' });
  }
  const client = createPagerClient(deps.projectFrom(options));
  if (options.follow) return follow(client, options, deps);
  const view = await client.view();
  requireAlerts(view);
  const alerts = wanted(view, options);
  deps.output.result({ ...view, alerts }, () => renderAlerts(alerts, view, deps.output.style));
}

async function follow(client: PagerClient, options: ListOptions, deps: CommandDeps): Promise<void> {
  const { output } = deps;
  const ring = createRing(options, deps);
  for await (const news of client.events(deps.signal)) {
    if (news.type === 'now') {
      const alerts = wanted(news, options);
      output.record({ ...news, alerts }, () => renderAlerts(alerts, news, output.style));
    } else if (!('severity' in news) || isWanted(news, options)) {
      output.record(news, () => eventRow(news).join('  '));
      await ring(news);
    }
  }
  throw notRunning();
}

function wanted({ alerts }: PagerView, options: ListOptions): readonly ShownAlert[] {
  return sortAlerts(alerts.filter((alert) => isWanted(alert, options)));
}

function isWanted(one: Pick<ShownAlert, 'severity'>, { severity }: ListOptions): boolean {
  return severity === undefined || severity.includes(one.severity);
}

/** With a source of our own, or of another one, there is something to list. */
function requireAlerts({ pipeline, alerts, silences }: PagerView): void {
  if (pipeline !== 'off' || alerts.length > 0 || silences.length > 0) return;
  throw new CliError({
    code: 'alerts_off',
    what: 'the platform runs without alerts',
    why: 'Prometheus evaluates them, and it was not asked for',
    next: 'add it to the running platform: "shopctl up --with alerts"',
  });
}

/** Rings for a page and once more for one without acknowledgement, on a terminal only; the desktop's notice is asked for. */
function createRing({ notify }: ListOptions, { output, env }: CommandDeps): (event: PagerEvent) => Promise<void> {
  let isPossible = notify === true;
  return async (event) => {
    if (event.type !== 'notified' && event.type !== 'escalated') return;
    const title = printable(event.type === 'notified' ? event.alertname : `${event.alertname}, not acknowledged`);
    const text = printable(event.summary ?? 'a page fires');
    output.ring(ringText(title, text));
    if (!isPossible) return;
    const problem = await notifyDesktop(title, text, { platform: process.platform, env });
    if (problem === undefined) return;
    isPossible = false;
    output.warn(`no notice on the desktop: ${problem}`);
  };
}
