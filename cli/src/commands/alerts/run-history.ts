import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { readAlertRules, requireAlertName } from '../../pager/alert-rules.ts';
import { readPagerHistory } from './read-history.ts';
import { eventRow } from './render.ts';

export interface HistoryOptions extends CommonOptions {
  /** ms since 1970. */
  readonly since?: number;
  readonly tail?: number;
}

const DEFAULT_TAIL = 50;

/** `shopctl alerts history`. */
export async function runHistory(name: string | undefined, options: HistoryOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const kept = await readPagerHistory(project, deps.output);
  const nameOf = (event: object) => ('alertname' in event ? String(event.alertname) : undefined);
  if (name !== undefined) {
    const seen = kept.flatMap((event) => nameOf(event) ?? []);
    requireAlertName(name, await readAlertRules(project.root), seen);
  }
  const { since, tail = since === undefined ? DEFAULT_TAIL : Number.POSITIVE_INFINITY } = options;
  const chosen = kept.filter(
    (event) =>
      (name === undefined || nameOf(event) === name) && (since === undefined || Date.parse(event.time) >= since),
  );
  const events = chosen.slice(Math.max(0, chosen.length - tail));
  deps.output.result({ events }, () => {
    if (kept.length === 0) return 'no alert has fired yet';
    if (events.length === 0) return `none of ${kept.length} events is shown with these options`;
    return formatTable(['TIME (UTC)', 'EVENT', 'ALERT', 'DETAILS'], events.map(eventRow));
  });
}
