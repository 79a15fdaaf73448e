import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import type { StartOptions } from '../../platform/start-options.ts';
import { startPlatform } from '../../platform/start-platform.ts';
import type { PlatformState, StartStep } from '../../platform/state.ts';
import { formatDuration } from '../../shared/duration.ts';

export interface UpOptions extends CommonOptions, StartOptions {}

/** `shopctl up`. */
export async function runUp(services: readonly string[], options: UpOptions, deps: CommandDeps): Promise<void> {
  const { state, started, applied, tookMs } = await startPlatform(deps.projectFrom(options), services, options, deps);
  deps.output.result({ ...endpointsOf(state), started, applied, tookMs, startReport: state.startReport }, () =>
    describe(state, started.length > 0),
  );
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
