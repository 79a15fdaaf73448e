import { createWriteStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ComponentContext, ContainerRun } from '../component.ts';
import { type EngineUrl, openEngine, unlessStatus } from './engine.ts';
import { COMPONENT_LABEL, CONTAINER_LABEL } from './labels.ts';
import { ownProcessOf } from './own-process.ts';
import { projectKey, readRecord, recordEngine } from './record.ts';

/** What a container of a project looks like. */
export interface ContainerSpec {
  /** `postgres`, `orders-1` */
  readonly component: string;
  readonly name: string;
  readonly options: Docker.ContainerCreateOptions;
  readonly volumeName?: string;
  /** The image takes a half initialised volume for a whole one: until it has served once, it starts with an empty one. */
  readonly initialisesOnce?: boolean;
}

/** Whose container it is, and where its output goes. */
export type ContainerOwner = Pick<ComponentContext, 'project' | 'stateDir' | 'logFile'>;

/** How long a stop signal may take, where nothing else is said. */
const STOP_TIMEOUT_MS = 10_000;

/** Carries a plan out: one container at a time, its output in the component's log file, removed when it has ended. */
export function containerRun(plan: ContainerSpec, context: ContainerOwner, url: EngineUrl): ContainerRun {
  const { name, component } = plan;
  const labels = labelsOf(plan, context);
  let ended: Promise<string> = Promise.resolve('never started');
  return {
    type: 'container',
    async start() {
      const engine = await openEngine(url);
      await recordEngine(context, url);
      // What an earlier run left has other ports perhaps; the data is in the volume.
      await removeContainer(engine, name);
      await openVolume(engine, plan, context);
      const container = await engine.createContainer({ ...plan.options, ...bounded(plan), name, Labels: labels });
      const { written } = await logOutput(engine, container, context.logFile(component));
      try {
        await container.start();
      } catch (error) {
        await removeContainer(engine, container.id);
        throw error;
      }
      ended = untilEnded(engine, container, written);
      const pid = await ownProcessOf(container);
      return { ended, ...(pid !== undefined && { pid }) };
    },
    async stop(timeoutMs = STOP_TIMEOUT_MS) {
      const engine = await openEngine(url);
      await stopContainer(engine, name, timeoutMs);
      await ended;
      await removeContainer(engine, name);
    },
  };
}

/** Makes the volume unless it is there. One that was interrupted in its first start is created again. */
async function openVolume(engine: Docker, plan: ContainerSpec, context: ContainerOwner): Promise<void> {
  const { volumeName, initialisesOnce } = plan;
  if (volumeName === undefined) return;
  if (initialisesOnce && !(await readRecord(context.stateDir))?.initialised.includes(volumeName))
    await engine.getVolume(volumeName).remove().catch(unlessStatus(404));
  await engine.createVolume({ Name: volumeName, Labels: labelsOf(plan, context) });
}

function labelsOf({ component }: ContainerSpec, context: ContainerOwner) {
  return { [CONTAINER_LABEL]: projectKey(context), [COMPONENT_LABEL]: component };
}

/** Runs a command in a container and returns what it wrote. Throws with its error output when it fails. */
export async function execute(engine: Docker, container: string, command: readonly string[]): Promise<string> {
  const exec = await engine.getContainer(container).exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({});
  const [out, errors] = [new PassThrough(), new PassThrough()];
  engine.modem.demuxStream(stream, out, errors);
  stream.once('end', () => {
    out.end();
    errors.end();
  });
  const [stdout, stderr] = await Promise.all([text(out), text(errors)]);
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`${command[0]} in container ${container}: exit ${ExitCode}: ${stderr.trim()}`);
  return stdout;
}

/** Asks it by its own stop signal, then kills it. Nothing happens to one that is stopped or gone. */
export async function stopContainer(engine: Docker, idOrName: string, timeoutMs: number): Promise<void> {
  // 304: was stopped already. 404: was removed already.
  await engine
    .getContainer(idOrName)
    .stop({ t: Math.ceil(timeoutMs / 1000) })
    .catch(unlessStatus(304, 404));
}

/** Resolves when there is no such container (any more). Its anonymous volumes go with it, named ones stay. */
export async function removeContainer(engine: Docker, idOrName: string): Promise<void> {
  const container = engine.getContainer(idOrName);
  const removed = await container.remove({ force: true, v: true }).then(() => true, unlessStatus(404, 409));
  // 409: another process is removing it; its name is free only after that.
  if (!removed) await container.wait({ condition: 'removed' }).catch(unlessStatus(404));
}

/** Its output is in our log file; the engine's own copy must not grow without limit. */
function bounded({ options }: ContainerSpec): Docker.ContainerCreateOptions {
  return {
    HostConfig: {
      ...options.HostConfig,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '8m', 'max-file': '2' } },
    },
    // A check inside the container starts a process each time; the supervisor looks from outside.
    Healthcheck: { Test: ['NONE'] },
  };
}

/** Attached before the start, so that no line is missed. `written` resolves when the last line is in the file. */
async function logOutput(
  engine: Docker,
  container: Docker.Container,
  file: string,
): Promise<{ readonly written: Promise<void> }> {
  const output = await container.attach({ stream: true, stdout: true, stderr: true });
  const log = createWriteStream(file, { flags: 'a', mode: 0o600 });
  engine.modem.demuxStream(output, log, log);
  const written = new Promise<void>((resolve, reject) => {
    log.once('error', reject);
    // The connection breaks with the engine; the container's end is seen, and reported, by `wait`.
    output.once('error', () => log.end(resolve));
    output.once('end', () => log.end(resolve));
  });
  // A full disk, for instance: the component goes on without a log, and its exit code says why.
  written.catch(() => output.resume());
  return { written };
}

/** Resolves when the container has ended and is removed, with how it ended and what went wrong after that. */
async function untilEnded(engine: Docker, container: Docker.Container, written: Promise<void>): Promise<string> {
  let how: string;
  try {
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    const state = await container.inspect().catch(unlessStatus(404));
    how = state?.State.OOMKilled ? 'killed for lack of memory' : `exit code ${StatusCode}`;
  } catch (error) {
    // Removed by hand, or the engine itself is gone; then what is left is removed at the next start.
    return `the Docker engine lost it: ${(error as Error).message}`;
  }
  const results = await Promise.allSettled([written, removeContainer(engine, container.id)]);
  const problems = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as Error).message] : [],
  );
  return [how, ...problems].join('; ');
}
