import { setTimeout as delay } from 'node:timers/promises';
import type { CommandDeps } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../output/units.ts';
import { bundles, supervisorBuild } from '../../platform/bundles.ts';
import { type ControlClient, createControlClient, type UpProgress } from '../../platform/control-client.ts';
import { hasFailpoints } from '../../platform/failpoint-files.ts';
import { assertNoOrphanedFaults } from '../../platform/orphaned-faults.ts';
import { type Project, readConfigFile } from '../../platform/project.ts';
import { describeSeededBugs } from '../../platform/seeded-bugs.ts';
import { type RuntimeKind, runtimeKinds } from '../../platform/service-runtime.ts';
import type { PlatformState, StartStep } from '../../platform/state.ts';
import { waitUntilGone } from '../../platform/supervisor-end.ts';
import { isSupervisorRunning, startSupervisor } from '../../platform/supervisor-process.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { serviceNames } from '../../topology/services.ts';
import { isPort } from '../option-values.ts';
import type { UpOptions } from './command.ts';

const DEFAULT_WAIT_SECONDS = 180;
const INTERRUPTED_END_MS = 20_000;
const OUTDATED_END_MS = 30_000;

/** `shopctl up`. */
export async function runUp(services: readonly string[], options: UpOptions, deps: CommandDeps): Promise<void> {
  const { output, env, signal } = deps;
  const project = deps.projectFrom(options);
  checkNames([...services, ...Object.keys(options.replicas ?? {})]);
  await assertNoOrphanedFaults(project, { isStart: true });
  const config = readConfigFile(project.root, env);
  const waitSeconds = options.waitTimeout ?? fromEnv(env) ?? config.waitTimeout ?? DEFAULT_WAIT_SECONDS;
  const began = performance.now();
  const progress = output.progress(`starting ${services.length > 0 ? services.join(', ') : 'the platform'}`);
  try {
    if (options.build) await bundles(project).buildIfStale((line) => progress.note(line));
    const control = createControlClient(project);
    const runtime = chosenRuntime(options, config.runtime, env);
    const wasRunning = (await isSupervisorRunning(project)) && !(await endOutdated(project, control, progress));
    if (options.build && (runtime ?? (await runtimeOf(wasRunning, control))) === 'docker') {
      const failpoints = wasRunning ? (await control.state()).failpoints === true : hasFailpoints(env);
      await buildServiceImages(project, failpoints, deps, progress);
    }
    // The supervisor takes back what this call started as soon as the connection is gone; we wait to see it through.
    const starting = wasRunning ? undefined : startSupervisor({ project, env, signal });
    deps.onInterrupt(async () => {
      // How the start itself ended is told by the command; here it only has to be over.
      await starting?.catch(() => {});
      await (wasRunning ? untilSettled(control) : untilEnded(project, control));
    });
    await starting;
    const request = {
      services,
      replicas: options.replicas ?? {},
      ...directOption(options, config.direct, env),
      ...(runtime && { runtime }),
      ...portOption(options, env),
      providers: { ...config.providers, ...options.provider },
      ...(options.seedBug && { seededBugs: options.seedBug }),
      waitTimeoutMs: waitSeconds * 1000,
    };
    const done = await follow(control.up(request, signal), progress);
    const tookMs = performance.now() - began;
    progress.succeed(summary(done.started.length, tookMs));
    for (const warning of [...done.state.warnings, ...describeSeededBugs(done.state.seededBugs)]) output.warn(warning);
    output.result(
      { ...endpointsOf(done.state), started: done.started, tookMs, startReport: done.state.startReport },
      () => describe(done.state, done.started.length > 0),
    );
  } catch (error) {
    if (!signal.aborted) progress.fail('not started');
    else progress.stop();
    throw error;
  }
}

/** Loaded only where services run as containers: the engine's client takes a tenth of a second. */
async function buildServiceImages(
  { root }: Project,
  failpoints: boolean,
  { env, signal }: CommandDeps,
  progress: { update(text: string): void; note(text: string): void },
): Promise<void> {
  const { requireEngine } = await import('../../images/service-engine.ts');
  const { buildImages } = await import('../../images/build-images.ts');
  const { imageBuild } = await import('../../images/images.ts');
  const { engine } = await requireEngine(env, 'running services as containers');
  await buildImages(serviceNames, { engine, root, build: imageBuild(failpoints), signal, progress });
}

/** A supervisor of an earlier build would not know what this command asks; it makes way, and data stays. */
async function endOutdated(
  project: Project,
  control: ControlClient,
  progress: { note(text: string): void },
): Promise<boolean> {
  const { build } = await control.state();
  if (build === (await supervisorBuild(project))) return false;
  progress.note('the supervisor was built anew: restarting the platform');
  await control.down({});
  await waitUntilGone(project, OUTDATED_END_MS);
  return true;
}

function checkNames(names: readonly string[]): void {
  for (const name of names) {
    if (!(serviceNames as readonly string[]).includes(name)) throw unknownService(name, serviceNames);
  }
}

function fromEnv({ SHOPCTL_WAIT_TIMEOUT: text }: NodeJS.ProcessEnv): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new CliError({
    what: `SHOPCTL_WAIT_TIMEOUT is "${text}"`,
    next: 'set it to a number of seconds above 0, or unset it',
    exitCode: exitCodes.usage,
  });
}

function portOption({ port }: UpOptions, { SHOPCTL_PORT: text }: NodeJS.ProcessEnv): { port?: number } {
  if (port !== undefined) return { port };
  if (text === undefined || text === '') return {};
  if (isPort(text)) return { port: Number(text) };
  throw new CliError({
    what: `SHOPCTL_PORT is "${text}"`,
    next: 'set it to a port from 1 to 65535, or unset it',
    exitCode: exitCodes.usage,
  });
}

/** Nothing said: as the platform is wired already, through proxies at the first start. */
function directOption(
  { direct }: UpOptions,
  configured: boolean | undefined,
  env: NodeJS.ProcessEnv,
): { direct?: boolean } {
  const fromEnvironment = env.SHOPCTL_DIRECT ? env.SHOPCTL_DIRECT === '1' || env.SHOPCTL_DIRECT === 'true' : undefined;
  const chosen = direct ?? fromEnvironment ?? configured;
  return chosen === undefined ? {} : { direct: chosen };
}

/** Nothing said: what services run as already, processes at the first start. */
function chosenRuntime(
  { runtime }: UpOptions,
  configured: string | undefined,
  { SHOPCTL_RUNTIME: fromEnvironment }: NodeJS.ProcessEnv,
): RuntimeKind | undefined {
  const chosen = runtime ?? (fromEnvironment || configured);
  const known = runtimeKinds.find((kind) => kind === chosen);
  if (chosen === undefined || known) return known;
  throw new CliError({
    what: `"${chosen}" is no runtime`,
    why: `SHOPCTL_RUNTIME or the configuration file names it; there are ${runtimeKinds.join(' and ')}`,
    next: 'correct it, or choose one with --runtime',
    exitCode: exitCodes.usage,
  });
}

async function runtimeOf(isRunning: boolean, control: ControlClient): Promise<RuntimeKind | undefined> {
  return isRunning ? (await control.state()).runtime : undefined;
}

type Done = Extract<UpProgress, { type: 'done' }>;

async function follow(
  answers: AsyncIterable<UpProgress>,
  progress: { update(text: string): void; note(text: string): void },
): Promise<Done> {
  const waiting = new Set<string>();
  for await (const answer of answers) {
    if (answer.type === 'done') return answer;
    if (answer.type === 'failed') throw new CliError(answer.error);
    const { type, subject, message } = answer.event;
    if (type === 'instance.starting') waiting.add(subject);
    if (type === 'instance.ready') waiting.delete(subject);
    if (type === 'instance.crashed' || type === 'instance.failed') progress.note(`${subject}: ${message}`);
    if (type === 'instance.retired') progress.note(`${subject}: ${message}`);
    if (waiting.size > 0) progress.update(`waiting for ${[...waiting].join(', ')}`);
  }
  throw new CliError({
    what: 'the supervisor ended while the platform was starting',
    why: 'its connection closed without a result',
    next: 'see .shop/<project>/logs/supervisor.log, then run "shopctl up" again',
    exitCode: exitCodes.notRunning,
  });
}

/** A platform that ran before goes on; only what the interrupted call began is stopped. */
async function untilSettled(control: ControlClient): Promise<void> {
  while ((await control.state()).status === 'starting') await delay(50);
}

/** The supervisor was ours: it ends when everything is stopped, or is told to when our request never reached it. */
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

function summary(startedCount: number, tookMs: number): string {
  if (startedCount === 0) return `ready: everything was running already (${formatDuration(tookMs)})`;
  return `ready in ${formatDuration(tookMs)}`;
}

function endpointsOf(state: PlatformState) {
  const { project, status, gatewayUrl, telemetryUrl, direct, runtime = 'process', instances, seededBugs = [] } = state;
  return {
    project,
    status,
    gatewayUrl,
    telemetryUrl,
    direct,
    runtime,
    seededBugs,
    endpoints: instances.map(({ name, kind, url, ports, provider, detail }) => ({
      name,
      kind,
      url,
      ports,
      provider,
      detail,
    })),
  };
}

function describe(state: PlatformState, withReport: boolean): string {
  const endpoints = formatTable(
    ['NAME', 'ADDRESS', 'FROM'],
    state.instances.map(({ name, url, ports, detail, address }) => [
      name,
      url ?? `${address?.host ?? '127.0.0.1'}:${ports.main}`,
      detail ?? '',
    ]),
  );
  const hasGateway = state.instances.some(({ service }) => service === 'gateway');
  const urls = [
    ...(hasGateway ? [`orders     ${state.gatewayUrl}/api/orders`] : []),
    `telemetry  ${state.telemetryUrl}`,
  ];
  const parts = [endpoints, urls.join('\n')];
  if (withReport) parts.unshift(describeStart(state.startReport));
  return parts.join('\n\n');
}

/** Who took how long from when, and whom it waited for: the slowest is what the start took. */
function describeStart(report: readonly StartStep[]): string {
  const steps = [...report].sort((a, b) => a.readyMs - b.readyMs);
  return formatTable(
    ['READY', 'TOOK', 'NAME', 'WAITED FOR'],
    steps.map(({ name, beganMs, readyMs, waitedFor }) => [
      `@${formatDuration(readyMs)}`,
      `+${formatDuration(readyMs - beganMs)}`,
      name,
      waitedFor.length > 0 ? `${waitedFor.join(', ')} (${formatDuration(beganMs)})` : '',
    ]),
  );
}
