import type { Project } from '../../platform/project.ts';
import { pollFor } from '../../shared/wait-until.ts';
import { pagesOf } from './play-round.ts';

/** Alerts of an earlier round may fire for so long after it: they look back, ms. */
const QUIET_LIMIT_MS = 600_000;
const LOOK_EVERY_MS = 1_000;

/** Until no page and no ticket fires. A round that begins with one is void, which says so. */
export async function untilQuiet(project: Project, signal: AbortSignal): Promise<void> {
  const look = async () => ((await pagesOf(project)).length === 0 ? true : undefined);
  await pollFor(look, { limitMs: QUIET_LIMIT_MS, everyMs: LOOK_EVERY_MS, signal });
}
