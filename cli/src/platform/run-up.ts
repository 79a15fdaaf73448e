import type { CommandDeps } from '../commands/deps.ts';
import type { UpOptions } from '../commands/up.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatTable } from '../output/table.ts';
import { formatDuration } from '../output/units.ts';
import { bundles } from './bundles.ts';
import { createControlClient, type UpProgress } from './control-client.ts';
import { type Project, readConfigFile } from './project.ts';
import { serviceNames } from './services.ts';
import type { PlatformState, StartStep } from './state.ts';
import { waitUntilGone } from './supervisor-end.ts';
import { isSupervisorRunning, startSupervisor } from './supervisor-process.ts';
import { unknownService } from './unknown-service.ts';

const DEFAULT_WAIT_SECONDS = 180;

/** `shopctl up`. */
export async function runUp(services: readonly string[], options: UpOptions, deps: CommandDeps): Promise<void> {
  const { output, env, signal } = deps;
  const project = deps.projectFrom(options);
  checkNames([...services, ...Object.keys(options.replicas ?? {})]);
  const config = readConfigFile(project.root, env);
  const waitSeconds = options.waitTimeout ?? fromEnv(env) ?? config.waitTimeout ?? DEFAULT_WAIT_SECONDS;
  const began = performance.now();
  const progress = output.progress(`starting ${services.length > 0 ? services.join(', ') : 'the platform'}`);
  try {
    if (options.build) await bundles(project).buildIfStale((line) => progress.note(line));
    const wasRunning = await isSupervisorRunning(project);
    if (!wasRunning) await startSupervisor({ project, env });
    const control = createControlClient(project.socketPath);
    // The supervisor takes back what this call started as soon as the connection is gone; we wait to see it through.
    deps.onInterrupt(() => afterInterrupt(project, wasRunning, () => control.state()));
    const request = {
      services,
      replicas: options.replicas ?? {},
      ...directOption(options, config.direct, env),
      providers: { ...config.providers, ...options.provider },
      waitTimeoutMs: waitSeconds * 1000,
    };
    const done = await follow(control.up(request, signal), progress);
    const tookMs = performance.now() - began;
    progress.succeed(summary(done.started.length, tookMs));
    for (const warning of done.state.warnings) output.warn(warning);
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

/** Waits until what the interrupted start had begun is stopped; a platform that ran before goes on. */
async function afterInterrupt(
  project: Project,
  wasRunning: boolean,
  state: () => Promise<PlatformState>,
): Promise<void> {
  if (!wasRunning) return waitUntilGone(project, 20_000);
  while ((await state()).status === 'starting') await new Promise((resolve) => setTimeout(resolve, 50));
}

function summary(startedCount: number, tookMs: number): string {
  if (startedCount === 0) return `ready: everything was running already (${formatDuration(tookMs)})`;
  return `ready in ${formatDuration(tookMs)}`;
}

function endpointsOf(state: PlatformState) {
  const { project, status, gatewayUrl, telemetryUrl, direct, instances } = state;
  return {
    project,
    status,
    gatewayUrl,
    telemetryUrl,
    direct,
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
  const parts = [endpoints, `gateway    ${state.gatewayUrl}/api/orders\ntelemetry  ${state.telemetryUrl}`];
  if (withReport) parts.unshift(describeStart(state.startReport));
  return parts.join('\n\n');
}

/** Who took how long from when, and whom it waited for: the slowest is what the start took. */
export function describeStart(report: readonly StartStep[]): string {
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
