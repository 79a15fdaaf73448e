import { existsSync } from 'node:fs';
import { callJson } from '../platform/control-client.ts';
import { currentRoundFile } from '../platform/current-round.ts';
import type { Project } from '../platform/project.ts';

const LIMIT_MS = 1_000;

/** Reports to the drill, where one is on, that its trainee looks at something. Costs one look at a file otherwise. */
export async function reportLook(project: Project, source: string): Promise<void> {
  if (!existsSync(currentRoundFile(project))) return;
  const body = { source };
  const request = { project, method: 'POST', path: '/v1/drill/look', body, signal: AbortSignal.timeout(LIMIT_MS) };
  // A supervisor that does not respond has no round either, and the command itself reports that.
  await callJson(request).catch(() => undefined);
}
