import { chown, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type Docker from 'dockerode';
import { CliError } from '../errors.ts';
import { findImage, imageBuild, imageName, type ServiceImage } from '../images/images.ts';
import { requireEngine } from '../images/service-engine.ts';
import { identifyProcess } from '../process/process-identity.ts';
import { signalIdentity } from '../process/process-tree.ts';
import type { Running } from '../process/running.ts';
import { type ContainerSpec, containerRun } from '../providers/docker/container-run.ts';
import type { EngineUrl } from '../providers/docker/engine.ts';
import { hostNetworkObstacle } from '../providers/docker/host-network.ts';
import { projectKey } from '../providers/docker/record.ts';
import { writePrivateFile } from '../providers/private-file.ts';
import { failpointFolder, hasFailpoints } from './failpoint-files.ts';
import { stopTimeoutMs } from './process-runtime.ts';
import type { Project } from './project.ts';
import type { Release } from './release.ts';
import type { ServiceInstance, ServiceRuntime, ServiceSource } from './service-runtime.ts';
import { type FileOwner, shareFile } from './shared-file.ts';
import type { StartConditions } from './unit.ts';

/** Where the image looks for variables that are not passed to an engine (its Dockerfile). */
const SECRETS_MOUNT = '/run/secrets/service.env';
const FAILPOINT_MOUNT = '/run/failpoints';
/** The folders of the files that services follow: a file that is replaced is seen only where its folder is mounted. */
const SHARED_MOUNTS = { FLAGS_FILE: '/run/flags', UPSTREAMS_FILE: '/run/upstreams', ADMISSION_FILE: '/run/admission' };
/** They hold passwords. */
const secretVariables: readonly string[] = ['DATABASE_URL', 'BROKER_URL'];
/** What is true of this machine or of our child processes only. */
const hostVariables = /^(PATH|HOME|TMPDIR|NODE_COMPILE_CACHE|EXIT_WITH_PARENT|FAILPOINT_DIR)$/;

interface Place {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly engine: Docker;
  readonly url: EngineUrl;
}

/**
 * Services as containers, one each, from the images that `shopctl build` makes. They use the machine's network and
 * process numbers. So everything that reaches a service as a process reaches it here at the same address, by the same
 * signal (decision 0018). Throws CliError (3) where there is no engine, or its network is not this machine's.
 */
export async function dockerRuntime(project: Project, env: NodeJS.ProcessEnv): Promise<ServiceRuntime> {
  const { url, engine } = await requireEngine(env, 'running services as containers');
  const obstacle = await hostNetworkObstacle(url);
  if (obstacle !== undefined) {
    throw new CliError({
      code: 'docker_unavailable',
      what: 'services cannot run as containers of this engine',
      why: obstacle,
      next: 'run them as processes ("shopctl up --runtime process"), or all of it by "docker compose up" with compose.yaml',
    });
  }
  const place: Place = { project, env, engine, url };
  return {
    kind: 'docker',
    source: async ({ name }, release) => {
      if (release !== undefined) return sourceOf(await releaseImage(engine, name, release), place);
      const build = imageBuild(hasFailpoints(env));
      const wanted = imageName(name, undefined, build);
      const image = await findImage(engine, wanted);
      if (image) return sourceOf(image, place);
      throw new CliError({
        code: 'image_missing',
        what: `there is no image ${wanted}`,
        next: `make it with "shopctl build${build === 'harness' ? ' --harness' : ''}", or leave out --no-build`,
      });
    },
  };
}

/** Found by its id: another image may have its name by now. */
async function releaseImage(engine: Docker, service: string, release: Release): Promise<ServiceImage> {
  const { version, image: name, digest } = release;
  if (name === undefined) {
    throw new CliError({
      code: 'release_unavailable',
      what: `the release ${version} of ${service} cannot run in a container`,
      why: 'it was built for processes: it consists of bundles, and containers run images',
      next: `run services as processes ("shopctl up --runtime process"), or run "shopctl deploy unpin ${service}"`,
    });
  }
  const found = await findImage(engine, digest);
  if (found !== undefined) return { ...found, name };
  throw new CliError({
    code: 'image_missing',
    what: `the image ${name} of the release ${version} is not there any more`,
    next: `run "shopctl deploy unpin ${service}", then "shopctl up": it starts what the clone has built`,
  });
}

function sourceOf(image: ServiceImage, place: Place): ServiceSource {
  const { project, url } = place;
  return {
    // Not the id: an image that is built again after another service's version changed has another one, and the same content.
    version: image.content,
    detail: `image ${image.name}`,
    info: (instance) => ({ container: containerName(project, instance), engine: url, image: image.id }),
    start: (instance, conditions) => start(place, instance, image, conditions),
  };
}

function containerName(project: Project, instance: string): string {
  return `shopctl-${projectKey({ project: project.name, stateDir: project.stateDir })}-${instance}`;
}

async function start(
  place: Place,
  instance: ServiceInstance,
  image: ServiceImage,
  conditions: StartConditions,
): Promise<Running> {
  const { project, url } = place;
  const spec = await containerSpec(place, instance, image, conditions);
  const owner = { project: project.name, stateDir: project.stateDir, logFile: () => instance.logFile };
  const run = containerRun(spec, owner, url);
  const { ended, pid } = await run.start();
  const process = pid === undefined ? undefined : await identifyProcess(pid);
  return {
    ...(process && { process }),
    ended,
    async stop(timeoutMs = stopTimeoutMs(instance.env)) {
      const stopped = run.stop(timeoutMs);
      // A paused process (SIGSTOP, a chaos fault) must wake up to see the signal.
      if (process) await signalIdentity(process, 'SIGCONT');
      await stopped;
    },
  };
}

async function containerSpec(
  { project, env }: Place,
  instance: ServiceInstance,
  image: ServiceImage,
  conditions: StartConditions,
): Promise<ContainerSpec> {
  const user = userOf(image, env);
  // A container inherits no descriptor.
  const variables: Record<string, string> = {
    ...withoutHost(instance.env),
    ...(instance.front && { REUSE_PORT: '1' }),
    ...conditions.env,
  };
  const binds = [`${await writeSecrets(project, instance, user)}:${SECRETS_MOUNT}:ro`];
  if (hasFailpoints(env)) {
    await mkdir(failpointFolder(project), { recursive: true, mode: 0o700 });
    binds.push(`${failpointFolder(project)}:${FAILPOINT_MOUNT}`);
    variables.FAILPOINT_DIR = FAILPOINT_MOUNT;
  }
  for (const [variable, mount] of Object.entries(SHARED_MOUNTS)) {
    const file = instance.env[variable];
    if (file === undefined) continue;
    await shareFile(file, ownerOf(user));
    binds.push(`${dirname(file)}:${mount}:ro`);
    variables[variable] = join(mount, basename(file));
  }
  // A library that a fault puts into the process is found at the same path inside.
  const library = conditions.env?.LD_PRELOAD;
  if (library !== undefined) binds.push(`${library}:${library}:ro`);
  return {
    component: instance.name,
    name: containerName(project, instance.name),
    options: {
      // By id: a build meanwhile moves the name.
      Image: image.id,
      User: user,
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      HostConfig: { ...confinement, Binds: binds },
    },
  };
}

const confinement = {
  NetworkMode: 'host',
  PidMode: 'host',
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
  // The supervisor starts it again, with its own backoff and its own account of it.
  RestartPolicy: { Name: 'no' },
};

/** What an engine may know and what is true inside a container. */
function withoutHost(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !secretVariables.includes(name) && !hostVariables.test(name));
  return Object.fromEntries(kept);
}

/**
 * The image's own user where we are root; otherwise ours, because only our own processes take signals from us (faults,
 * usage). Failpoints are armed in a folder that a service takes from its own user only.
 */
function userOf(image: ServiceImage, env: NodeJS.ProcessEnv): string {
  const isRoot = process.getuid?.() === 0;
  return isRoot && !hasFailpoints(env) ? image.user : `${process.getuid?.()}:${process.getgid?.()}`;
}

/** The variables that hold passwords, in a separate file: a user who may inspect the container sees no password. */
async function writeSecrets(project: Project, { name, env }: ServiceInstance, user: string): Promise<string> {
  const folder = join(project.stateDir, 'containers');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${name}.env`);
  const lines = secretVariables.flatMap((variable) => {
    const value = env[variable];
    return value === undefined ? [] : [`${variable}=${quoted(value)}\n`];
  });
  await writePrivateFile(file, lines.join(''));
  const { uid, gid } = ownerOf(user);
  if (process.getuid?.() === 0) await chown(file, uid, gid);
  return file;
}

/** `1000:1000` */
function ownerOf(user: string): FileOwner {
  const [uid, gid] = user.split(':').map(Number) as [number, number];
  return { uid, gid };
}

/** As Node's --env-file reads it. URLs are encoded and hold neither quotes nor line ends. */
function quoted(url: string): string {
  if (/['\n]/.test(url)) throw new Error('a URL with a quote or a line end cannot be passed to a container');
  return `'${url}'`;
}
