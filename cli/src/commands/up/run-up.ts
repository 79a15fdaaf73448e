import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { forwardHangUp } from '../../interruption.ts';
import { switchAudit } from '../../monitoring/audit-client.ts';
import { formatTable } from '../../output/table.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { endPlatform } from '../../platform/end-platform.ts';
import type { Project } from '../../platform/project.ts';
import { type StartOptions, startRequest } from '../../platform/start-options.ts';
import { type StartedPlatform, startPlatform } from '../../platform/start-platform.ts';
import type { PlatformState, StartStep } from '../../platform/state.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import { formatDuration } from '../../shared/duration.ts';

export interface UpOptions extends CommonOptions, StartOptions {
  readonly watch?: boolean;
  readonly audit?: boolean;
}

/** `shopctl up`. */
export async function runUp(services: readonly string[], options: UpOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  if (options.watch) await assertCanWatch(project, options, deps);
  const started = await startPlatform(project, services, options, deps);
  if (options.audit !== undefined) await switchAudit(project, options.audit);
  const result = resultOf(started);
  const text = () => describe(started.state, started.started.length > 0);
  if (!options.watch) return deps.output.result(result, text);
  deps.output.record({ time: new Date().toISOString(), type: 'ready', ...result }, text);
  await watchUntilInterrupted(project, started, deps);
}

/** Before anything is started. Throws CliError: 2 for options that exclude each other, 3 where there are no sources. */
async function assertCanWatch(project: Project, options: UpOptions, { env }: CommandDeps): Promise<void> {
  const { assertWatchable } = await import('../../develop/watch-sources.ts');
  assertWatchable(project);
  if (!options.build) {
    throw new CliError({
      code: 'invalid_usage',
      what: '--watch cannot be combined with --no-build',
      why: 'what is watched is built at each save',
      next: 'leave one of them out',
    });
  }
  const asked = startRequest([], options, { root: project.root, env }).runtime;
  const runs =
    asked ?? ((await isSupervisorRunning(project)) ? (await createControlClient(project).state()).runtime : 'process');
  if (runs !== 'docker') return;
  throw new CliError({
    code: 'invalid_usage',
    what: 'services that run as containers cannot be watched',
    why: 'an image takes longer to build than a save may take; the runtime is "docker"',
    next: 'run them as processes: "shopctl up --watch --runtime process"',
  });
}

async function watchUntilInterrupted(
  project: Project,
  { wasRunning, request }: StartedPlatform,
  deps: CommandDeps,
): Promise<void> {
  const { output, env, signal } = deps;
  const { watchSources } = await import('../../develop/watch-sources.ts');
  forwardHangUp();
  const watching = watchSources({ project, request, endsPlatform: !wasRunning, output, signal });
  deps.onInterrupt(async () => {
    // How the watching itself ended is reported by the command. It waits for a replacement that is in progress, which the end
    // of the platform ends: code that does not get ready would be waited for.
    const ended = watching.catch(() => {});
    if (!wasRunning) await endPlatform(project, { purge: false }, { output, env });
    await ended;
  });
  await watching;
}

function resultOf({ state, started, applied, tookMs }: StartedPlatform) {
  return { ...endpointsOf(state), started, applied, tookMs, startReport: state.startReport };
}

function endpointsOf(state: PlatformState) {
  const { project, status, gatewayUrl, telemetryUrl, direct, runtime = 'process', instances, seededBugs = [] } = state;
  const { instrumentation = 'manual' } = state;
  return {
    project,
    status,
    gatewayUrl,
    telemetryUrl,
    direct,
    runtime,
    instrumentation,
    alerts: prometheusUrl(state) !== undefined,
    seededBugs,
    endpoints: instances.map(({ name, kind, url, ports, provider, detail, inspector }) => ({
      name,
      kind,
      url,
      ports,
      provider,
      detail,
      inspector,
    })),
  };
}

function prometheusUrl({ instances }: PlatformState): string | undefined {
  return instances.find(({ service }) => service === 'prometheus')?.url;
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
  const prometheus = prometheusUrl(state);
  const hasGateway = state.instances.some(({ service }) => service === 'gateway');
  const urls = [
    ...(hasGateway ? [`orders     ${state.gatewayUrl}/api/orders`] : []),
    `telemetry  ${state.telemetryUrl}`,
    ...(prometheus === undefined ? [] : [`alerts     ${prometheus} (Prometheus)`]),
    ...state.instances.flatMap(({ name, inspector }) => (inspector ? [`debugger   ${inspector} (${name})`] : [])),
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
