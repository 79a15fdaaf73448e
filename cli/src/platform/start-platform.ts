import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError, receivedError } from '../errors.ts';
import type { Output } from '../output/output.ts';
import { describeTools } from '../providers/resolve-tool.ts';
import { ComponentUnavailableError } from '../providers/unavailable.ts';
import { formatDuration } from '../shared/duration.ts';
import { poll } from '../shared/wait-until.ts';
import { serviceNames } from '../topology/services.ts';
import { bundles, supervisorBuild } from './bundles.ts';
import { type Asked, askedFrom } from './change-log.ts';
import { inspectionContext } from './component-context.ts';
import { type ControlClient, createControlClient, type UpProgress, type UpRequest } from './control-client.ts';
import type { PlatformEvent } from './events.ts';
import { hasFailpoints } from './failpoint-files.ts';
import { assertNoOrphanedFaults } from './orphaned-faults.ts';
import type { Project } from './project.ts';
import { describeSeededBugs } from './seeded-bugs.ts';
import { buildServiceImages } from './service-builds.ts';
import type { RuntimeKind } from './service-runtime.ts';
import { type StartOptions, startRequest } from './start-options.ts';
import type { PlatformState } from './state.ts';
import { waitUntilGone } from './supervisor-end.ts';
import { isSupervisorRunning, startSupervisor } from './supervisor-process.ts';
import { unknownService } from './unknown-service.ts';

const INTERRUPTED_END_MS = 20_000;
const OUTDATED_END_MS = 30_000;

/** What a start needs of the command that asks for it. */
export interface StartDeps {
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  onInterrupt(cleanUp: () => Promise<void>): void;
}

/** A platform that is ready. */
export interface StartedPlatform {
  readonly state: PlatformState;
  /** What this start has started; empty when everything was running. */
  readonly started: UpDone['started'];
  /** What changed in components that went on running. */
  readonly applied: UpDone['applied'];
  readonly tookMs: number;
  /** It ran before this start. */
  readonly wasRunning: boolean;
  readonly request: UpRequest;
}

/**
 * Starts the platform of a project, or what is named and its dependencies, and resolves when it is ready. An interruption
 * ends what was started. Throws CliError: 2 for options that name what does not exist, 6 while faults are left, and
 * what the supervisor reports.
 */
export async function startPlatform(
  project: Project,
  services: readonly string[],
  options: StartOptions,
  { output, env, signal, onInterrupt }: StartDeps,
): Promise<StartedPlatform> {
  checkNames([...services, ...Object.keys(options.replicas ?? {}), ...Object.keys(options.inspect ?? {})]);
  await assertNoOrphanedFaults(project, { isStart: true });
  const asked = askedFrom('command line', options.reason);
  const request = { ...startRequest(services, options, { root: project.root, env }), asked };
  const began = performance.now();
  const progress = output.progress(`starting ${services.length > 0 ? services.join(', ') : 'the platform'}`);
  try {
    if (options.build) await bundles(project).buildIfStale((line) => progress.note(line));
    const control = createControlClient(project);
    const wasRunning =
      (await isSupervisorRunning(project)) && !(await endOutdated(project, { control, progress, asked }));
    const before = wasRunning ? await control.state() : undefined;
    const runtime = request.runtime ?? before?.runtime;
    if ((request.instrumentation ?? before?.instrumentation) === 'stock') {
      await requireInstrumentation(project, env, runtime);
      if (options.build) await bundles(project).buildIfStale((line) => progress.note(line), { instrumented: true });
      else requireInstrumentedBundles(project);
    }
    if (options.build && runtime === 'docker') {
      const failpoints = before === undefined ? hasFailpoints(env) : before.failpoints === true;
      await buildServiceImages(serviceNames, { root: project.root, failpoints, env, signal, progress });
    }
    // The supervisor ends what this call started as soon as the connection is gone; we wait to see it through.
    const starting = wasRunning ? undefined : startSupervisor({ project, env, signal });
    onInterrupt(async () => {
      // How the start itself ended is reported by the command; here it only has to be over.
      await starting?.catch(() => {});
      await (wasRunning ? untilSettled(control) : untilEnded(project, control));
    });
    await starting;
    const { state, started, applied } = await follow(control.up(request, signal), progress);
    const stale = options.build ? [] : await bundles(project).stale();
    const tookMs = performance.now() - began;
    progress.succeed(summary({ started, applied, stale }, tookMs));
    for (const warning of [...state.warnings, ...describeSeededBugs(state.seededBugs)]) output.warn(warning);
    return { state, started, applied, tookMs, wasRunning, request };
  } catch (error) {
    if (!signal.aborted) progress.fail('not started');
    else progress.stop();
    throw error;
  }
}

/**
 * Throws CliError (2) for services in containers, whose images have no instrumentations, and ComponentUnavailableError (3)
 * where the packages are not installed.
 */
async function requireInstrumentation(
  project: Project,
  env: NodeJS.ProcessEnv,
  runtime: RuntimeKind | undefined,
): Promise<void> {
  if (runtime === 'docker') {
    throw new CliError({
      code: 'invalid_usage',
      what: 'services in containers cannot run under stock instrumentation',
      why: 'their images hold the services with separate spans',
      next: 'add "--runtime process", or "--instrumentation manual"',
    });
  }
  const { instrumentation: ways } = await describeTools(inspectionContext(project, env));
  if (!ways.some(({ available }) => available)) throw new ComponentUnavailableError('instrumentation', ways);
}

/** Throws CliError (1): without a build they may never have been made. */
function requireInstrumentedBundles({ root }: Project): void {
  const file = join(root, 'dist/instrumented/telemetry.cjs');
  if (existsSync(file)) return;
  throw new CliError({
    code: 'build_incomplete',
    what: `${file} is missing`,
    why: 'services that run under stock instrumentation are built when they are first asked for',
    next: 'start once without "--no-build"',
  });
}

/** A supervisor of an earlier build would not know what this command asks; it makes way, and data stays. */
async function endOutdated(
  project: Project,
  { control, progress, asked }: { control: ControlClient; progress: { note(text: string): void }; asked: Asked },
): Promise<boolean> {
  const { build } = await control.state();
  if (build === (await supervisorBuild(project))) return false;
  progress.note('the supervisor was rebuilt: restarting the platform');
  await control.down({ asked });
  await waitUntilGone(project, OUTDATED_END_MS);
  return true;
}

function checkNames(names: readonly string[]): void {
  for (const name of names) {
    if (!(serviceNames as readonly string[]).includes(name)) throw unknownService(name, serviceNames);
  }
}

type UpDone = Extract<UpProgress, { type: 'done' }>;

/** What an `up` ends with; `onEvent` is called with what happens until then. Throws the CliError it fails with. */
export async function followUp(
  responses: AsyncIterable<UpProgress>,
  onEvent: (event: PlatformEvent) => void,
): Promise<UpDone> {
  for await (const response of responses) {
    if (response.type === 'done') return response;
    if (response.type === 'failed') throw receivedError(response.error);
    onEvent(response.event);
  }
  throw new CliError({
    code: 'supervisor_lost',
    what: 'the supervisor ended while the platform was starting',
    why: 'its connection closed without a result',
    next: 'see .shop/<project>/logs/supervisor.log, then run "shopctl up" again',
  });
}

function follow(
  responses: AsyncIterable<UpProgress>,
  progress: { update(text: string): void; note(text: string): void },
): Promise<UpDone> {
  const waiting = new Set<string>();
  return followUp(responses, ({ type, subject, message }) => {
    if (type === 'instance.starting') waiting.add(subject);
    if (type === 'instance.ready') waiting.delete(subject);
    if (type === 'instance.crashed' || type === 'instance.failed') progress.note(`${subject}: ${message}`);
    if (type === 'instance.retired' || type === 'instance.refreshed' || type === 'instance.waiting')
      progress.note(`${subject}: ${message}`);
    if (type === 'up.settings') progress.note(`settings ${message}`);
    if (waiting.size > 0) progress.update(`waiting for ${[...waiting].join(', ')}`);
  });
}

/** A platform that ran before goes on; only what the interrupted call began is stopped. */
async function untilSettled(control: ControlClient): Promise<void> {
  await poll(async () => ((await control.state()).status === 'starting' ? undefined : true), { everyMs: 50 });
}

/**
 * The supervisor was ours: it ends when everything is stopped, or on our request when the first one never reached it.
 */
async function untilEnded(project: Project, control: ControlClient): Promise<void> {
  const isIdle = async () => (await isSupervisorRunning(project)) && (await control.state()).status === 'stopped';
  const ended = waitUntilGone(project, INTERRUPTED_END_MS);
  const watched = new AbortController();
  const sendHome = async () => {
    while (!watched.signal.aborted) {
      // It may end between the question and the order: then it is where we want it.
      if (await isIdle().catch(() => false)) return control.down({}).catch(() => {});
      await delay(50);
    }
  };
  await Promise.all([ended.finally(() => watched.abort()), sendHome()]);
}

function summary(
  { started, applied, stale }: Record<'started' | 'applied' | 'stale', readonly string[]>,
  tookMs: number,
): string {
  const done = [
    ...(applied.length > 0 ? [`applied ${applied.join(', ')}`] : []),
    ...(stale.length > 0 ? [`older than its sources, and not built because of --no-build: ${stale.join(', ')}`] : []),
  ];
  if (started.length > 0) return [`ready in ${formatDuration(tookMs)}`, ...done].join('; ');
  const what = done.length > 0 ? done.join('; ') : 'everything was running already';
  return `ready: ${what} (${formatDuration(tookMs)})`;
}
