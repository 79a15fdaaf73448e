import type { Project } from '../../platform/project.ts';
import { pollFor } from '../../shared/wait-until.ts';
import { pagesOf } from './play-round.ts';

/** Alerts of a round may fire for this time after it: they look back, ms. */
const QUIET_LIMIT_MS = 240_000;
const LOOK_EVERY_MS = 1_000;

/** Whether no page and no ticket fires, after a wait. */
export async function untilQuiet(project: Project, signal: AbortSignal): Promise<boolean> {
  const look = async () => ((await pagesOf(project)).length === 0 ? true : undefined);
  return (await pollFor(look, { limitMs: QUIET_LIMIT_MS, everyMs: LOOK_EVERY_MS, signal })) ?? false;
}
