import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { CliError } from '../errors.ts';
import {
  buildArguments,
  dockerfileOf,
  findImage,
  type ImageBuild,
  type ImageSubject,
  identityLabels,
  imageName,
  ownSize,
  type ServiceImage,
  SOURCES_LABEL,
} from './images.ts';
import { digestOf, sourceFiles } from './sources.ts';

export interface BuildImageOptions {
  readonly engine: Docker;
  /** Of the clone. */
  readonly root: string;
  readonly service: ImageSubject;
  readonly tag?: string | undefined;
  /** Default: production. */
  readonly build?: ImageBuild | undefined;
  /** Also when the image was made from these very sources already. */
  readonly force?: boolean;
  readonly signal: AbortSignal;
  /** Called with what the engine does now: "step 12 of 23". */
  readonly onProgress: (text: string) => void;
}

export interface BuiltImage extends ServiceImage {
  readonly service: ImageSubject;
  /** What it adds to its base image. */
  readonly ownBytes: number;
  /** False: it was there, from the same sources. */
  readonly built: boolean;
  readonly tookMs: number;
}

/** Makes an image unless it is there. Throws CliError with the last lines of a build that failed. */
export async function buildImage(options: BuildImageOptions): Promise<BuiltImage> {
  const { engine, root, service, tag, build, force = false } = options;
  const began = performance.now();
  const name = imageName(service, tag, build);
  const files = await sourceFiles(root, service);
  const sources = await digestOf(root, service, files);
  const before = await findImage(engine, name);
  const described = async (image: ServiceImage) => ({ ...image, service, ownBytes: await ownSize(engine, name) });
  if (before?.sources === sources && !force) return { ...(await described(before)), built: false, tookMs: 0 };
  await runBuild(options, { name, files, sources });
  const image = await findImage(engine, name);
  if (!image) throw new Error(`the engine says that ${name} was built, and has none`);
  return { ...(await described(image)), built: true, tookMs: performance.now() - began };
}

interface BuildEvent {
  readonly stream?: string;
  readonly error?: string;
}

/** How much of a failed build's output is printed. */
const ERROR_LINES = 15;

async function runBuild(
  { engine, root, service, build = 'production', force = false, signal, onProgress }: BuildImageOptions,
  { name, files, sources }: { name: string; files: readonly string[]; sources: string },
): Promise<void> {
  const dockerfile = dockerfileOf(service);
  const buildargs = buildArguments(service, build);
  const version = await versionOf(root, service);
  const said: string[] = [];
  const look = ({ stream = '' }: BuildEvent) => {
    said.push(...stream.split('\n').filter((line) => line.trim() !== ''));
    const [, step, of] = /^Step (\d+)\/(\d+)/.exec(stream) ?? [];
    if (step !== undefined) onProgress(`step ${step} of ${of}`);
  };
  try {
    const output = await engine.buildImage(
      { context: root, src: [...files] },
      {
        t: name,
        dockerfile,
        buildargs,
        labels: { [SOURCES_LABEL]: sources, ...identityLabels({ subject: service, build, version }) },
        rm: true,
        forcerm: true,
        nocache: force,
        abortSignal: signal,
      },
    );
    await finish(engine, output, look);
  } catch (cause) {
    signal.throwIfAborted();
    const options = Object.entries(buildargs)
      .map(([name, value]) => ` --build-arg ${name}=${value}`)
      .join('');
    throw new CliError({
      code: 'build_failed',
      what: `${name} could not be built`,
      why: [...said.slice(-ERROR_LINES), (cause as Error).message].join('\n'),
      next: `see the whole build with "docker build -f ${dockerfile}${options} ."`,
      cause,
    });
  }
}

async function versionOf(root: string, subject: ImageSubject): Promise<string> {
  const folder = subject === 'migrations' ? 'cli' : `services/${subject}`;
  return (JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as { version: string }).version;
}

function finish(engine: Docker, stream: NodeJS.ReadableStream, look: (event: BuildEvent) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, events: readonly BuildEvent[] = []) => {
      // A failed step comes as an event of a stream that then ends well.
      const problem = events.find((event) => event?.error !== undefined)?.error;
      if (error) reject(error);
      else if (problem !== undefined) reject(new Error(problem));
      else resolve();
    };
    engine.modem.followProgress(stream, done, look);
  });
}
