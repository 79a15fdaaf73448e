import { callJson, createControlClient } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { Operations } from './operations.ts';

/** An instance that is restarted may take so long to be ready, ms. */
const LIMIT_MS = 120_000;

/** Has the supervisor carry out an operation. Throws CliError (4) where no supervisor responds, and its errors. */
export async function operate<Name extends keyof Operations>(
  project: Project,
  name: Name,
  body: Parameters<Operations[Name]>[0],
): Promise<Awaited<ReturnType<Operations[Name]>>> {
  // Whether a supervisor responds at all is known sooner.
  await createControlClient(project).state();
  const signal = AbortSignal.timeout(LIMIT_MS);
  return callJson<Awaited<ReturnType<Operations[Name]>>>({
    project,
    method: 'POST',
    path: `/v1/operations/${name}`,
    body,
    signal,
  });
}
