import { CliError } from '../errors.ts';
import { callJson, createControlClient } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { Operations } from './operations.ts';

/** An instance that is restarted may take so long to be ready, ms. */
const LIMIT_MS = 120_000;

/** Has the supervisor carry out an operation. Throws CliError: (4) without a supervisor, (124) after the limit, and its. */
export async function operate<Name extends keyof Operations>(
  project: Project,
  name: Name,
  body: Parameters<Operations[Name]>[0],
  limitMs = LIMIT_MS,
): Promise<Awaited<ReturnType<Operations[Name]>>> {
  // Whether a supervisor responds at all is known sooner.
  await createControlClient(project).state();
  const signal = AbortSignal.timeout(limitMs);
  try {
    const request = { project, method: 'POST', path: `/v1/operations/${name}`, body, signal };
    return await callJson<Awaited<ReturnType<Operations[Name]>>>(request);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CliError({
      code: 'no_response_in_time',
      what: `the supervisor has not finished after ${limitMs / 1000} s`,
      why: 'it may still be at work: what it asked a server to do goes on',
      next: 'see "shopctl status" and "shopctl changes", then repeat the command',
      cause: error,
    });
  }
}
