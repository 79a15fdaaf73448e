import { createHash } from 'node:crypto';
import type Docker from 'dockerode';
import { unlessStatus } from '../providers/docker/engine.ts';
import { type ServiceName, serviceNames } from '../topology/services.ts';

/** The tag that `up --runtime docker` runs. */
const DEVELOPMENT_TAG = 'dev';
/** Of an image: what its sources were, see `digestOf`. */
export const SOURCES_LABEL = 'dev.shopctl.sources';
const SUBJECT_LABEL = 'dev.shopctl.subject';
const BUILD_LABEL = 'dev.shopctl.build';
/** Of its `package.json` (source: OCI image specification, annotations). */
const VERSION_LABEL = 'org.opencontainers.image.version';

/** What has an image: the services, and the program that migrates their databases. */
export type ImageSubject = ServiceName | 'migrations';
export const imageSubjects: readonly ImageSubject[] = [...serviceNames, 'migrations'];

/** Of a service's bundle. Only a harness build has failpoints and seeded bugs (decision 0052). */
const imageBuilds = ['production', 'harness'] as const;
export type ImageBuild = (typeof imageBuilds)[number];

/** Only a harness build has failpoints; services without them run the build that is shipped. */
export function imageBuild(failpoints: boolean): ImageBuild {
  return failpoints ? 'harness' : 'production';
}

/** `shop/orders:dev`, `shop/orders:dev-harness`. The program that migrates is the same in both builds. */
export function imageName(
  subject: ImageSubject,
  tag: string = DEVELOPMENT_TAG,
  build: ImageBuild = 'production',
): string {
  return build === 'harness' && subject !== 'migrations' ? `shop/${subject}:${tag}-harness` : `shop/${subject}:${tag}`;
}

/** One for all services. Relative to the clone. */
export function dockerfileOf(subject: ImageSubject): string {
  return subject === 'migrations' ? 'deploy/migrations/Dockerfile' : 'services/Dockerfile';
}

/** What the Dockerfile is given to make this image. */
export function buildArguments(subject: ImageSubject, build: ImageBuild): Readonly<Record<string, string>> {
  return subject === 'migrations' ? {} : { SERVICE: subject, BUILD: build };
}

/** What an image says of itself. */
export interface ImageIdentity {
  readonly subject: ImageSubject;
  readonly build: ImageBuild;
  readonly version: string;
}

export function identityLabels({ subject, build, version }: ImageIdentity): Readonly<Record<string, string>> {
  return { [SUBJECT_LABEL]: subject, [BUILD_LABEL]: build, [VERSION_LABEL]: version };
}

/** An image of ours as an engine has it. */
export interface ServiceImage {
  readonly name: string;
  /** `sha256:...` of its content and configuration. */
  readonly id: string;
  readonly sizeBytes: number;
  /** `uid:gid` its process runs as. */
  readonly user: string;
  readonly sources: string | undefined;
  /** Changes with what runs in a container of it. Builds from other sources may have the same. */
  readonly content: string;
  /** Undefined where another program than `shopctl build` made it. */
  readonly identity: ImageIdentity | undefined;
}

/** The image of that name; undefined when the engine has none. */
export async function findImage(engine: Docker, name: string): Promise<ServiceImage | undefined> {
  const found = await engine.getImage(name).inspect().catch(unlessStatus(404));
  if (!found) return undefined;
  const { Id: id, Size: sizeBytes, Config } = found;
  const labels = Config.Labels ?? {};
  return {
    name,
    id,
    sizeBytes,
    user: Config.User,
    sources: labels[SOURCES_LABEL],
    content: contentOf(found),
    identity: identityIn(labels),
  };
}

/** A digest of the layers and of the configuration without labels: they say what it was built from, and nothing of them runs. Pure. */
export function contentOf({ RootFS, Config }: Pick<Docker.ImageInspectInfo, 'RootFS' | 'Config'>): string {
  const { Env, User, WorkingDir, Entrypoint, Cmd, Healthcheck } = Config;
  const content = [RootFS.Layers, Env, User, WorkingDir, Entrypoint, Cmd, Healthcheck];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function identityIn(labels: Readonly<Record<string, string>>): ImageIdentity | undefined {
  const subject = imageSubjects.find((name) => name === labels[SUBJECT_LABEL]);
  const build = imageBuilds.find((name) => name === labels[BUILD_LABEL]);
  const version = labels[VERSION_LABEL];
  return subject && build && version ? { subject, build, version } : undefined;
}

interface HistoryEntry {
  readonly CreatedBy: string;
  readonly Size: number;
}

/** Bytes it adds to its base image: its layers from our first instruction, the environment, on. */
export async function ownSize(engine: Docker, name: string): Promise<number> {
  const history = (await engine.getImage(name).history()) as readonly HistoryEntry[];
  const first = history.findIndex(({ CreatedBy }) => /ENV\s+NODE_ENV=production/.test(CreatedBy));
  if (first === -1) throw new Error(`the history of ${name} does not begin with its environment`);
  return history.slice(0, first + 1).reduce((sum, { Size }) => sum + Size, 0);
}
