import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BuiltImage } from '../../../cli/src/images/build-image.ts';
import { cloneRoot } from '../../../cli/src/platform/project.ts';
import type { PlatformState } from '../../../cli/src/platform/state.ts';
import { startGuard } from '../../support/guard.ts';
import { rotated, type Summary, summarize } from '../rounds.ts';

const run = promisify(execFile);
const PROGRAM = join(cloneRoot(), 'cli/bin/shopctl');
export const runtimes = ['process', 'docker'] as const;
export type Runtime = (typeof runtimes)[number];

/** Of one runtime. */
export interface RuntimeFigures {
  /** `shopctl up` from the command's start to its end, everything stopped before and data there, in ms. */
  readonly upMs: Summary;
  /** A service from its own start until it is ready, six starting concurrently, in ms; over all services and rounds. */
  readonly serviceMs: Summary;
  /** Resident memory of the six services right after `up`, in bytes. */
  readonly rssBytes: Summary;
}

export interface DockerFigures {
  readonly images: readonly BuiltImage[];
  /** What databases and broker ran as, the same for both runtimes. */
  readonly components: readonly string[];
  readonly runtimes: Readonly<Record<Runtime, RuntimeFigures>>;
}

type Shopctl = (...args: string[]) => Promise<string>;

/** Builds what has no image yet, and returns the sizes of all. */
export async function measureImages(): Promise<readonly BuiltImage[]> {
  return JSON.parse(await shopctlAt({ ...process.env, NO_COLOR: '1' })('build', '--json'));
}

/**
 * Starts the platform with services as processes and as containers, in an order that rotates; components are the same for
 * both. Side effects: images, a project `bench` in a temporary folder, removed at the end. Rejects where there is no engine.
 */
export async function measureDocker({
  rounds,
  say,
}: {
  rounds: number;
  say(line: string): void;
}): Promise<DockerFigures> {
  const images = await measureImages();
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  const env = { ...process.env, SHOPCTL_PROBE: 'off', SHOPCTL_HOME: folder, SHOPCTL_PROJECT: 'bench', NO_COLOR: '1' };
  await using _ = startGuard(folder, [PROGRAM, 'down', '--volumes'], env);
  const shopctl = shopctlAt(env);
  const starts: Record<Runtime, Start[]> = { process: [], docker: [] };
  // One start of each that does not count: data directories, compile caches, page cache.
  for (const runtime of runtimes) await start(shopctl, runtime);
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const runtime of rotated(runtimes, round)) starts[runtime].push(await start(shopctl, runtime));
  }
  const components = [...new Set(Object.values(starts).flatMap((all) => all.flatMap((one) => one.components)))];
  return { images, components, runtimes: { process: figuresOf(starts.process), docker: figuresOf(starts.docker) } };
}

interface Start {
  readonly upMs: number;
  readonly serviceMs: readonly number[];
  readonly rssBytes: number;
  readonly components: readonly string[];
}

async function start(shopctl: Shopctl, runtime: Runtime): Promise<Start> {
  const began = performance.now();
  await shopctl('up', '--no-build', '--runtime', runtime);
  const upMs = performance.now() - began;
  const { instances, startReport } = JSON.parse(await shopctl('status', '--json')) as PlatformState;
  await shopctl('down');
  const services = instances.filter(({ kind }) => kind === 'service');
  const names = new Set(services.map(({ name }) => name));
  return {
    upMs,
    serviceMs: startReport.filter(({ name }) => names.has(name)).map(({ beganMs, readyMs }) => readyMs - beganMs),
    rssBytes: services.reduce((sum, { rssBytes = 0 }) => sum + rssBytes, 0),
    components: instances
      .filter(({ kind }) => kind === 'component')
      .map(({ name, provider }) => `${name}: ${provider}`),
  };
}

function figuresOf(starts: readonly Start[]): RuntimeFigures {
  return {
    upMs: summarize(starts.map(({ upMs }) => upMs)),
    serviceMs: summarize(starts.flatMap(({ serviceMs }) => serviceMs)),
    rssBytes: summarize(starts.map(({ rssBytes }) => rssBytes)),
  };
}

function shopctlAt(env: NodeJS.ProcessEnv): Shopctl {
  return async (...args) => (await run(PROGRAM, args, { env, maxBuffer: 1 << 24 })).stdout;
}
