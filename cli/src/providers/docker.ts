import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ComponentContext, ComponentName, Launch, OnProgress, Provider, Run } from './component.ts';
import { CONTAINER_LABEL, type ContainerPlan, containerImages, planContainer } from './docker-plans.ts';
import { available, installable, nothing, unavailable } from './provider-checks.ts';

/** An engine on this machine answers in a few ms; without one the check must not hold up `up`. */
const PING_TIMEOUT_MS = 250;
const STOP_TIMEOUT_S = 10;

/** The docker way for one component: a container with fixed host ports on loopback and a named volume. */
export function dockerProvider(component: ComponentName, context: ComponentContext): Provider {
  const image = containerImages[component];
  return {
    kind: 'docker',
    async check() {
      const engine = await connectEngine();
      if (typeof engine === 'string') return unavailable('docker', engine);
      // Host networking, which a proxy to our own processes needs, is the engine's own machine elsewhere.
      if (component === 'toxiproxy' && process.platform !== 'linux')
        return unavailable('docker', 'needs Linux (host network)');
      if (await hasImage(engine, image)) return available('docker', `image ${image}`);
      return installable('docker', `image ${image} is not here yet and can be pulled`);
    },
    launch: async () => launchContainer(await planContainer(component, nameOf(component, context), context), context),
    install: (onProgress) => pull(image, onProgress),
  };
}

/** Runs a command in a container and returns what it wrote. Throws with its error output when it fails. */
export async function execInContainer(container: string, command: readonly string[]): Promise<string> {
  const engine = await requireEngine();
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

/** Removes every container and volume of a project. Does nothing when no engine answers. */
export async function removeContainers(context: Pick<ComponentContext, 'project' | 'stateDir'>): Promise<void> {
  const engine = await connectEngine();
  if (typeof engine === 'string') return;
  const filters = { label: [`${CONTAINER_LABEL}=${projectKey(context)}`] };
  const containers = await engine.listContainers({ all: true, filters });
  await Promise.all(
    containers.map(({ Id }) => engine.getContainer(Id).remove({ force: true, v: true }).catch(unlessStatus(404))),
  );
  const { Volumes } = await engine.listVolumes({ filters });
  await Promise.all((Volumes ?? []).map(({ Name }) => engine.getVolume(Name).remove().catch(unlessStatus(404))));
}

function launchContainer(plan: ContainerPlan, context: ComponentContext): Launch {
  return {
    component: plan.component,
    kind: 'docker',
    detail: `${plan.options.Image} in container ${plan.name}`,
    run: containerRun(plan, projectKey(context)),
    address: plan.address,
    info: { container: plan.name, ...plan.info },
    prepare: nothing,
    probe: plan.probe,
    setUp: plan.setUp,
    cleanUp: async () => removeContainer(await requireEngine(), plan.name),
  };
}

function containerRun({ name, options, volumeName }: ContainerPlan, key: string): Run {
  const labels = { [CONTAINER_LABEL]: key };
  return {
    type: 'container',
    async start() {
      const engine = await requireEngine();
      // What an earlier run left has other ports perhaps; the data is in the volume.
      await removeContainer(engine, name);
      if (volumeName !== undefined) await engine.createVolume({ Name: volumeName, Labels: labels });
      const container = await engine.createContainer({ ...options, name, Labels: labels });
      await container.start();
    },
    async stop() {
      const engine = await requireEngine();
      // 304: was stopped already. 404: was removed already.
      await engine.getContainer(name).stop({ t: STOP_TIMEOUT_S }).catch(unlessStatus(304, 404));
      await removeContainer(engine, name);
    },
    async isRunning() {
      const engine = await requireEngine();
      const state = await engine.getContainer(name).inspect().catch(unlessStatus(404));
      return state?.State.Running === true;
    },
  };
}

async function removeContainer(engine: Docker, name: string): Promise<void> {
  await engine.getContainer(name).remove({ force: true, v: true }).catch(unlessStatus(404));
}

/** The engine, or why there is none. */
async function connectEngine(): Promise<Docker | string> {
  // Imported here: the client is large, and most machines' components are processes.
  const { default: DockerClient } = await import('dockerode');
  // No `version`: the unversioned paths are the only ones that every engine, old and new, answers.
  const engine = new DockerClient({ timeout: PING_TIMEOUT_MS });
  try {
    await engine.ping();
  } catch (error) {
    return `no Docker engine answers (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`;
  }
  return new DockerClient();
}

async function requireEngine(): Promise<Docker> {
  const engine = await connectEngine();
  if (typeof engine === 'string') throw new Error(engine);
  return engine;
}

async function hasImage(engine: Docker, image: string): Promise<boolean> {
  return (await engine.getImage(image).inspect().catch(unlessStatus(404))) !== undefined;
}

async function pull(image: string, onProgress: OnProgress): Promise<void> {
  const engine = await requireEngine();
  onProgress(`pulling ${image}`);
  const stream = await engine.pull(image);
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
  });
}

/** Two clones may have projects of the same name; their state directories differ. */
function projectKey({ project, stateDir }: Pick<ComponentContext, 'project' | 'stateDir'>): string {
  return `${project}-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}`;
}

function nameOf(component: ComponentName, context: ComponentContext): string {
  return `shopctl-${projectKey(context)}-${component}`;
}

function unlessStatus(...statuses: readonly number[]) {
  return (error: Error & { statusCode?: number }): undefined => {
    if (error.statusCode === undefined || !statuses.includes(error.statusCode)) throw error;
    return undefined;
  };
}
