import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { CliError } from '../errors.ts';
import { buildImage } from '../images/build-image.ts';
import { findImage, type ImageBuild, imageBuild, imageName, type ServiceImage } from '../images/images.ts';
import { requireEngine } from '../images/service-engine.ts';
import { hasFailpoints } from '../platform/failpoint-files.ts';
import type { Release } from '../platform/release.ts';
import type { InstanceState } from '../platform/state.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import { complaintOf } from '../process/run-program.ts';
import type { ServiceName } from '../topology/services.ts';
import { extractCommit } from './commit-files.ts';
import { releasesOf } from './release-build.ts';
import { invalidRelease, type ReleaseRequest, type ReleaseSource, versionWith } from './release-source.ts';
import type { StableRelease } from './stable-release.ts';

/** Where images are built and kept. */
export interface ImagePlace {
  /** Of the clone. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What the Dockerfile of services copies, relative to the clone. */
const SOURCES = [
  '.dockerignore',
  'package.json',
  'package-lock.json',
  'cli/package.json',
  'cli/src/topology',
  'instrumentation/package.json',
  'kit',
  'proto',
  'scripts',
  'services',
] as const;

/** Its image, by the Dockerfile of its sources. Equal sources are built once. */
export async function buildReleaseImage(
  source: ReleaseSource,
  place: ImagePlace,
  signal: AbortSignal,
): Promise<Release> {
  const { service, base, version, seededBugs, env } = source;
  const { engine } = await requireEngine(place.env, 'a release for containers');
  const image = await build(source, { engine, build: imageBuild(hasFailpoints(place.env)), signal });
  const folder = await keepRecord(service, base, image, place);
  return { version, folder, digest: image.id, image: image.name, seededBugs: [...seededBugs], env: { ...env } };
}

/** An image that was built before, under a name that the next build leaves as it is. */
export interface GivenImage {
  /** `0.2.0-i1f0c9a3e`. */
  readonly version: string;
  keep(): Promise<Release>;
}

/** Finds the image, and changes nothing. Throws CliError: 2 for one that is of another kind, 3 where the engine has none. */
export async function givenImage(request: ReleaseRequest & { image: string }, place: ImagePlace): Promise<GivenImage> {
  const { service, image: name, seedBug = [], env = {} } = request;
  const { engine } = await requireEngine(place.env, 'a release for containers');
  const image = await findImage(engine, name);
  const build = imageBuild(hasFailpoints(place.env));
  checkImage(name, image, { service, build });
  const base = `${image.identity.version}-i${shortId(image.id)}`;
  return {
    version: versionWith(base, request),
    async keep() {
      const kept = await keepImage(service, { id: image.id, base }, { ...place, engine, build });
      return { ...kept, version: versionWith(base, request), seededBugs: [...seedBug], env: { ...env } };
    },
  };
}

type IdentifiedImage = ServiceImage & { readonly identity: NonNullable<ServiceImage['identity']> };

/** Throws CliError where it is not the image of this service in the build that the platform runs. Pure. */
export function checkImage(
  name: string,
  image: ServiceImage | undefined,
  { service, build }: { readonly service: string; readonly build: ImageBuild },
): asserts image is IdentifiedImage {
  const command = `"shopctl build ${service} --tag TAG${build === 'harness' ? ' --harness' : ''}"`;
  if (image === undefined) {
    throw new CliError({
      code: 'image_missing',
      what: `the engine has no image ${name}`,
      next: `pull it ("docker pull ${name}"), or make one with ${command}`,
    });
  }
  const { identity } = image;
  if (identity === undefined)
    throw invalidRelease(
      `${name} does not say what it is`,
      `make it with ${command.slice(0, -1)} --force"`,
      'it has no labels of "shopctl build"',
    );
  if (identity.subject !== service)
    throw invalidRelease(`${name} is an image of ${identity.subject}, not of ${service}`, 'name another image');
  if (identity.build !== build)
    throw invalidRelease(
      `${name} is a ${identity.build} build`,
      `make another one with ${command}`,
      build === 'harness' ? 'this platform has failpoints' : 'this platform has no failpoints',
    );
}

/** What a service runs now, under a name that the next build leaves as it is. */
export async function stableImage(
  service: string,
  place: ImagePlace,
  { fleet, instances }: { fleet: Pick<FleetControl, 'releaseOf'>; instances: readonly InstanceState[] },
): Promise<StableRelease> {
  const recorded = fleet.releaseOf(service);
  if (recorded !== undefined) return { kept: recorded, restored: async () => recorded };
  const own = instances.find((one) => one.service === service && one.info?.image !== undefined);
  if (own === undefined) throw new Error(`no container of ${service} names its image`);
  const { engine } = await requireEngine(place.env, 'a release for containers');
  const build = imageBuild(hasFailpoints(place.env));
  const kept = await keepImage(
    service,
    { id: String(own.info?.image), base: `${own.version ?? '0.0.0'}-b${shortId(String(own.info?.image))}` },
    { ...place, engine, build },
  );
  return {
    kept,
    async restored() {
      const latest = await findImage(engine, imageName(service as ServiceName, undefined, build));
      return latest?.id === kept.digest ? undefined : kept;
    },
  };
}

async function build(
  { service, base, description, commit, path }: ReleaseSource,
  options: { readonly engine: Docker; readonly build: ImageBuild; readonly signal: AbortSignal },
): Promise<ServiceImage> {
  const image = { ...options, service: service as ServiceName, tag: base, onProgress: () => undefined };
  const copy = commit === undefined ? undefined : await mkdtemp(join(tmpdir(), 'shop-release-'));
  try {
    if (copy !== undefined) await extractCommit(commit as string, SOURCES, { from: path, to: copy }, options.signal);
    return await buildImage({ ...image, root: copy ?? path });
  } catch (cause) {
    options.signal.throwIfAborted();
    throw new CliError({
      code: 'build_failed',
      what: `${description} cannot be built as an image`,
      why: (cause instanceof CliError ? cause.why : undefined) ?? complaintOf(cause),
      next: 'correct the sources, or choose others with --from or --dir',
      cause,
    });
  } finally {
    if (copy !== undefined) await rm(copy, { recursive: true, force: true });
  }
}

async function keepImage(
  service: string,
  { id, base }: { readonly id: string; readonly base: string },
  { engine, build, ...place }: ImagePlace & { readonly engine: Docker; readonly build: ImageBuild },
): Promise<Release> {
  const name = imageName(service as ServiceName, base, build);
  const [repo = '', tag = ''] = name.split(':');
  await engine.getImage(id).tag({ repo, tag });
  const folder = await keepRecord(service, base, { name, id }, place);
  return { version: base, folder, digest: id, image: name, seededBugs: [], env: {} };
}

/** `sha256:` is the same in all of them. */
const shortId = (id: string) => id.split(':').at(-1)?.slice(0, 8) ?? '';

/** A folder like that of a release of bundles: contract migrations ask there for what can come back. */
async function keepRecord(
  service: string,
  base: string,
  { name, id }: Pick<ServiceImage, 'name' | 'id'>,
  { root }: ImagePlace,
): Promise<string> {
  const folder = join(releasesOf(service), base);
  await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, folder, 'image.json'), `${JSON.stringify({ name, id })}\n`);
  return folder;
}
