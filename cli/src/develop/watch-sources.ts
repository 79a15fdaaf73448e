import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, messageOf } from '../errors.ts';
import type { Output } from '../output/output.ts';
import { targetsOf } from '../platform/bundles.ts';
import { askedFrom } from '../platform/change-log.ts';
import { type ControlClient, createControlClient, notRunning, type UpRequest } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import { followUp } from '../platform/start-platform.ts';
import { describeEvent, type EditEvent } from './edit-events.ts';
import { createEditLoop, type RebuiltTarget } from './edit-loop.ts';
import { findCompiler, typeErrors } from './type-errors.ts';
import { watchFolders } from './watch-folders.ts';

/** What services and their databases are made from. The command line's own sources are taken by the next `up`. */
const FOLDERS: readonly string[] = ['instrumentation/src', 'kit/src', 'migrations', 'proto', 'services'];

interface BuildScript {
  repeatedBuild(): Promise<{
    targetsOf(file: string): readonly string[];
    rebuild(targets: readonly string[], options: { color: boolean }): Promise<readonly RebuiltTarget[]>;
    dispose(): Promise<void>;
  }>;
}

export interface WatchSourcesOptions {
  readonly project: Project;
  /** What the platform was asked for: each save asks for it again. */
  readonly request: UpRequest;
  /** The platform is taken down with the watching. */
  readonly endsPlatform: boolean;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Throws CliError (3) where there is nothing to watch, or nothing to build with. */
export function assertWatchable({ root }: Pick<Project, 'root'>): void {
  const missing = ['scripts/build.mjs', 'node_modules/esbuild', 'services'].filter(
    (path) => !existsSync(join(root, path)),
  );
  if (missing.length === 0) return;
  throw new CliError({
    code: 'sources_missing',
    what: 'there are no sources to watch',
    why: `${missing.join(', ')}: not in ${root}`,
    next: 'run "npm install" in a clone of the repository, and shopctl from there',
  });
}

/**
 * Watches the sources of a running platform until the signal aborts, which ends all that it began. Throws CliError (4) when
 * the platform ends meanwhile.
 */
export async function watchSources({
  project,
  request,
  endsPlatform,
  output,
  signal,
}: WatchSourcesOptions): Promise<void> {
  const { root } = project;
  const control = createControlClient(project);
  const script = (await import(pathToFileURL(join(root, 'scripts/build.mjs')).href)) as BuildScript;
  const build = await script.repeatedBuild();
  const compiler = findCompiler(root);
  const emit = (event: EditEvent) =>
    output.record({ time: new Date().toISOString(), ...event }, () =>
      event.type === 'watching'
        ? describeEvent(event, output.style)
        : `${output.style.dim(new Date().toTimeString().slice(0, 8))} ${describeEvent(event, output.style)}`,
    );
  const loop = createEditLoop({
    targetsOf: build.targetsOf,
    rebuild: (targets) => build.rebuild(targets, { color: output.mode === 'text' && output.style.red('') !== '' }),
    apply: (report) => apply(control, { ...request, asked: askedFrom('up --watch', request.asked?.reason) }, report),
    ...(compiler !== undefined && { checkTypes: (stop) => typeErrors(compiler, root, stop) }),
    emit,
  });
  try {
    let begun: Promise<void> | undefined;
    const early: string[] = [];
    using _ = await watchFolders({
      root,
      folders: FOLDERS,
      onSave: (files) => (begun === undefined ? void early.push(...files) : loop.saved(files)),
      onProblem: (error) => output.warn(`not everything is watched: ${messageOf(error)}`),
    });
    const running = await runningTargets(control);
    begun = loop.begin(build.targetsOf('kit/src/').filter((target) => running.has(target)));
    loop.saved(early);
    await begun;
    emit({ type: 'watching', folders: FOLDERS, endsPlatform });
    if (compiler === undefined) emit({ type: 'types_unknown', reason: 'TypeScript is not installed ("npm install")' });
    await untilGone(control, signal);
  } finally {
    await loop.end();
    await build.dispose();
  }
}

/** What the services of the platform are made of. The first save that concerns another one takes longer. */
async function runningTargets(control: ControlClient): Promise<ReadonlySet<string>> {
  const { instances } = await control.state();
  return new Set(instances.flatMap(({ service }) => (service === undefined ? [] : targetsOf(service))));
}

async function apply(control: ControlClient, request: UpRequest, report: (instance: string, message: string) => void) {
  // Not with the signal: a replacement that has begun goes on when the watching ends.
  const { started, applied } = await followUp(control.up(request), ({ type, subject, message }) => {
    if (/^instance\.(retired|ready|refreshed|crashed|failed)$/.test(type)) report(subject, message);
  });
  return { started, applied };
}

/** Until the signal aborts. Throws when the supervisor ends before. */
async function untilGone(control: ControlClient, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of control.events({ follow: true, signal })) if (signal.aborted) return;
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (!signal.aborted) throw notRunning();
}
