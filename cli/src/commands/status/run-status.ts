import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { messageOf } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { formatBytes } from '../../output/units.ts';
import { cutText } from '../../output/width.ts';
import { admissionFile, admissionFolder, readShedPercent } from '../../platform/admission-file.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { describeSeededBugs } from '../../platform/seeded-bugs.ts';
import type { ActiveDrill, ActiveFault, InstanceState, InstanceStatus, PlatformState } from '../../platform/state.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { formatDuration } from '../../shared/duration.ts';

/** `shopctl status`. */
export async function runStatus(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const state = await createControlClient(project).state();
  const shedPercent = await readShedPercent(admissionFile(admissionFolder(project))).catch((error: unknown) => {
    // The rest of the status matters more, above all when something is wrong.
    deps.output.warn(messageOf(error));
  });
  const status = { ...state, ...(shedPercent !== undefined && { shedPercent }) };
  deps.output.result(status, () => describeStatus(status, deps.output));
}

interface Status extends PlatformState {
  /** Share of new orders that the gateway sheds, 0 to 100; absent where that cannot be read. */
  readonly shedPercent?: number;
}

/** `shopctl port SERVICE`. */
export async function runPort(service: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const { instances } = await createControlClient(deps.projectFrom(options)).state();
  const found = instances.filter((instance) => instance.service === service || instance.name === service);
  if (found.length === 0) throw unknownService(service, [...new Set(instances.map((instance) => instance.service))]);
  deps.output.result(
    found.map(({ name, ports }) => ({ name, ports })),
    (all) => all.map(({ ports }) => ports.main).join('\n'),
  );
}

/** Of at most 80 columns, but for reasons and faults. */
export function describeStatus(state: Status, { style, columns }: Pick<Output, 'style' | 'columns'>): string {
  const services = state.instances.filter(({ kind }) => kind === 'service');
  const components = state.instances.filter(({ kind }) => kind === 'component');
  const memory = services.reduce((sum, { rssBytes = 0 }) => sum + rssBytes, 0);
  return [
    `${state.project}: ${paint(state.status, style)}, gateway ${state.gatewayUrl || 'not started'}${state.direct ? ', no proxies' : ''}${state.runtime === 'docker' ? ', services in containers' : ''}${state.instrumentation === 'stock' ? ', stock instrumentation' : ''}`,
    formatTable(
      ['SERVICE', 'STATE', 'PID', 'PORT', 'UP', 'RESTARTS', 'CPU', 'MEMORY'],
      services.map((instance) => row(instance, style)),
    ),
    ...versions(services),
    formatTable(
      ['COMPONENT', 'STATE', 'PID', 'PORT', 'UP', 'RESTARTS', 'CPU', 'MEMORY'],
      components.map((instance) => row(instance, style)),
    ),
    formatTable(
      ['COMPONENT', 'FROM'],
      components.map(({ name, detail = '', provider }) => [
        name,
        cutText(`${provider}: ${detail}`, columns - LONGEST_COMPONENT - 2),
      ]),
    ),
    `memory of the services: ${formatBytes(memory)}`,
    ...components.flatMap(({ service, url }) =>
      service === 'prometheus' && url !== undefined ? [`alerts: Prometheus at ${url}`] : [],
    ),
    ...((state.shedPercent ?? 0) > 0
      ? [style.yellow(`${state.shedPercent} % of the new orders are shed ("shopctl shed 0" ends it)`)]
      : []),
    ...describeSeededBugs(state.seededBugs).map(style.red),
    ...drillLine(state.drill),
    ...faultLine(state.faults, style),
    ...operations(state),
    ...inspectors(state.instances),
    ...reasons(state.instances),
  ].join('\n\n');
}

/** `prometheus`. */
const LONGEST_COMPONENT = 10;

/** A container is not a process of ours; it exists in these states. */
const runsAs: readonly InstanceStatus[] = ['starting', 'ready', 'unready', 'stopping'];

/** One line for all faults, none when there is none. A supervisor of an older build reports none. */
function faultLine(faults: readonly ActiveFault[] = [], style: Style): string[] {
  if (faults.length === 0) return [];
  const each = faults.map(({ id, fault, target, status, expiresAt }) => {
    if (status === 'undo_failed') return `${target} ${fault} could not be reverted (${id})`;
    return `${target} ${fault} for another ${formatDuration(Math.max(0, Date.parse(expiresAt) - Date.now()))} (${id})`;
  });
  return [style.red(`faults: ${each.join(', ')}`)];
}

function row(instance: InstanceState, style: Style): string[] {
  const { name, status, process: running, ports, startedAt, restarts, cpuPercent, rssBytes, info } = instance;
  const isUp = running !== undefined || (info?.container !== undefined && runsAs.includes(status));
  return [
    name,
    paint(status, style),
    running ? String(running.pid) : '-',
    String(ports.main),
    isUp && startedAt ? formatDuration(Date.now() - Date.parse(startedAt)) : '-',
    String(restarts),
    cpuPercent === undefined ? '-' : `${cpuPercent.toFixed(1)} %`,
    rssBytes === undefined ? '-' : formatBytes(rssBytes),
  ];
}

/** One line where all have the same: no room is left for a column. */
function versions(services: readonly InstanceState[]): string[] {
  const all = [...new Set(services.map(versionOf))];
  if (all.length === 0) return [];
  if (all.length === 1) return [`version of the services: ${all[0]}`];
  return [
    formatTable(
      ['SERVICE', 'VERSION'],
      services.map((instance) => [instance.name, versionOf(instance)]),
    ),
  ];
}

/** `0.1.0`, `0.2.0 canary`. */
function versionOf({ version = '-', track = 'stable' }: InstanceState): string {
  return track === 'stable' ? version : `${version} ${track}`;
}

/** What "drain" and "reroute" have changed. */
function operations({ instances, edges }: PlatformState): string[] {
  const lines = [
    ...instances.flatMap(({ name, upstream }) =>
      upstream?.state === 'draining' ? [`${name}: draining, takes no new work (weight ${upstream.weight})`] : [],
    ),
    ...edges.flatMap(({ name, via, upstream }) =>
      via === 'standby' ? [`${name}: rerouted past its proxy, to ${upstream}`] : [],
    ),
  ];
  return lines.length > 0 ? [lines.join('\n')] : [];
}

function inspectors(instances: readonly InstanceState[]): string[] {
  const lines = instances.flatMap(({ name, inspector }) =>
    inspector ? [`${name}: a debugger attaches to ${inspector}`] : [],
  );
  return lines.length > 0 ? [lines.join('\n')] : [];
}

/** The same in every round. */
function drillLine(drill: ActiveDrill | undefined): string[] {
  if (drill === undefined) return [];
  const elapsedMs = Math.max(0, Date.now() - Date.parse(drill.startedAt));
  const time = `${minutesText(elapsedMs)} of ${minutesText(drill.limitMs)}`;
  return [`a drill is on: ${time} ("shopctl drill status")`];
}

/** `4:12` */
function minutesText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function reasons(instances: readonly InstanceState[]): string[] {
  const lines = instances.flatMap(({ name, reason }) => (reason ? [`${name}: ${reason}`] : []));
  return lines.length > 0 ? [lines.join('\n')] : [];
}

function paint(status: InstanceStatus | PlatformState['status'], style: Style): string {
  if (status === 'ready') return style.green(status);
  if (status === 'failed' || status === 'unready' || status === 'degraded') return style.red(status);
  return style.yellow(status);
}
