import type Docker from 'dockerode';
import { CliError } from '../errors.ts';
import { type EngineUrl, engineUrl, openEngine, pingEngine } from '../providers/docker/engine.ts';

/** This machine's Docker engine. Throws CliError (3) when none responds, with how to get one. */
export async function requireEngine(
  env: NodeJS.ProcessEnv,
  purpose: string,
): Promise<{ readonly url: EngineUrl; readonly engine: Docker }> {
  try {
    const url = engineUrl(env);
    await pingEngine(url);
    return { url, engine: await openEngine(url) };
  } catch (cause) {
    throw new CliError({
      code: 'docker_unavailable',
      what: `${purpose} needs a Docker engine`,
      why: (cause as Error).message,
      next: 'install and start one (Debian: "sudo apt-get install docker.io", elsewhere https://docs.docker.com/engine/install), or run services as processes: "shopctl up --runtime process"',
      cause,
    });
  }
}
