import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';

/** `unix:///var/run/docker.sock` or `tcp://127.0.0.1:2375`. */
export type EngineUrl = string;

/** A busy engine responds in some ms; one that hangs must not hold up `up`. */
const PING_TIMEOUT_MS = 1_000;

/**
 * Where this machine's engine should be: DOCKER_HOST, or the first of the usual sockets that exists. Throws with the
 * reason when there is none, and for an engine elsewhere: its loopback is not ours, and neither are its ports.
 */
export function engineUrl(env: NodeJS.ProcessEnv): EngineUrl {
  if (env.DOCKER_HOST) return parseDockerHost(env.DOCKER_HOST);
  const sockets = ['/var/run/docker.sock', ...(env.HOME ? [join(env.HOME, '.docker/run/docker.sock')] : [])];
  const socket = sockets.find((path) => existsSync(path));
  if (socket !== undefined) return `unix://${socket}`;
  throw new Error(`no Docker engine here (no ${sockets.join(', no ')}, and DOCKER_HOST is not set)`);
}

function parseDockerHost(host: string): EngineUrl {
  const url = URL.parse(host);
  if (url?.protocol === 'unix:' && url.pathname.length > 1) return `unix://${url.pathname}`;
  const isLoopback = url?.protocol === 'tcp:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url && isLoopback && url.port !== '' && url.port !== '2376') return `tcp://${url.host}`;
  throw new Error(
    'DOCKER_HOST names an engine that cannot publish ports on this loopback; set it to unix:///path/of/its.sock or unset it',
  );
}

/** A client of the engine. Connects to nothing yet. */
export async function openEngine(url: EngineUrl, timeoutMs?: number): Promise<Docker> {
  // Imported here: the client takes a tenth of a second to load, and most machines' components are processes.
  const { default: DockerClient } = await import('dockerode');
  const { protocol, hostname, port, pathname } = new URL(url);
  const address =
    // What is not said is undefined rather than absent: the client would take it from DOCKER_HOST.
    protocol === 'unix:'
      ? { socketPath: pathname, host: undefined, port: undefined }
      : { host: hostname, port: Number(port), protocol: 'http' as const };
  // No `version`: the unversioned paths are the only ones that every engine, old and new, serves.
  return new DockerClient({ ...address, ...(timeoutMs !== undefined && { timeout: timeoutMs }) });
}

/** Resolves when the engine responds; rejects with a reason for people. */
export async function pingEngine(url: EngineUrl): Promise<void> {
  const socket = url.startsWith('unix://') ? url.slice('unix://'.length) : undefined;
  // Most machines without an engine are recognised by this alone, and the client need not be loaded.
  if (socket !== undefined && !existsSync(socket))
    throw new Error(`no Docker engine responds at ${url} (no such socket)`);
  const engine = await openEngine(url, PING_TIMEOUT_MS);
  try {
    await engine.ping();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? 'this user may not use its socket (group "docker")' : (code ?? message);
    throw new Error(`no Docker engine responds at ${url} (${why})`, { cause });
  }
}

/** A handler that takes these HTTP statuses of the engine for success: what was wanted is so already. */
export function unlessStatus(...statuses: readonly number[]) {
  return (error: Error & { statusCode?: number }): undefined => {
    if (error.statusCode === undefined || !statuses.includes(error.statusCode)) throw error;
    return undefined;
  };
}
