import { CliError } from '../errors.ts';
import { pollFor } from '../shared/wait-until.ts';
import type { PagerClient } from './pager-client.ts';
import { missingAlerts } from './pager-reader.ts';

const EVERY_MS = 250;
/** Prometheus starts, scrapes, evaluates and sends in some seconds; on a busy machine it takes longer. */
const LIMIT_MS = 60_000;

/** Resolves when the first alert has arrived. Throws CliError (4) when none comes. */
export async function untilAlertsArrive(pager: Pick<PagerClient, 'view'>, signal: AbortSignal): Promise<void> {
  let why = missingAlerts('unknown');
  const look = async () => {
    why = missingAlerts((await pager.view()).pipeline);
    return why === undefined ? true : undefined;
  };
  if (await pollFor(look, { limitMs: LIMIT_MS, everyMs: EVERY_MS, signal })) return;
  throw new CliError({
    code: 'component_not_running',
    what: `no alert has arrived in ${LIMIT_MS / 1000} s`,
    why: why ?? 'Prometheus does not respond',
    next: 'see "shopctl logs prometheus"',
  });
}
