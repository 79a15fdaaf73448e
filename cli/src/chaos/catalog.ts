import { failpoints } from '@shop/kit/failpoint-names.ts';
import { CliError } from '../errors.ts';
import type { PlatformState } from '../platform/state.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { edges, serviceNames } from '../topology/services.ts';
import type { AnyFault, Scope } from './fault.ts';
import { bandwidth } from './faults/bandwidth.ts';
import { clock } from './faults/clock.ts';
import { diskAlarm } from './faults/disk-alarm.ts';
import { down } from './faults/down.ts';
import { failpoint } from './faults/failpoint.ts';
import { fill } from './faults/fill.ts';
import { holdConnections } from './faults/hold-connections.ts';
import { kill } from './faults/kill.ts';
import { latency } from './faults/latency.ts';
import { limitData } from './faults/limit-data.ts';
import { lock } from './faults/lock.ts';
import { memoryAlarm } from './faults/memory-alarm.ts';
import { partition } from './faults/partition.ts';
import { pause } from './faults/pause.ts';
import { purge } from './faults/purge.ts';
import { readOnly } from './faults/read-only.ts';
import { resetPeer } from './faults/reset-peer.ts';
import { restart } from './faults/restart.ts';
import { slicer } from './faults/slicer.ts';
import { slowClose } from './faults/slow-close.ts';
import { slowStart } from './faults/slow-start.ts';
import { stop } from './faults/stop.ts';
import { telemetryOutage } from './faults/telemetry-outage.ts';
import { term } from './faults/term.ts';
import { terminate } from './faults/terminate.ts';
import { timeout } from './faults/timeout.ts';
import { unbind } from './faults/unbind.ts';

/** Every fault, in the order of listings. */
export const faults: readonly AnyFault[] = [
  latency,
  bandwidth,
  slowClose,
  timeout,
  partition,
  resetPeer,
  slicer,
  limitData,
  down,
  kill,
  term,
  restart,
  stop,
  pause,
  slowStart,
  clock,
  terminate,
  holdConnections,
  lock,
  readOnly,
  fill,
  diskAlarm,
  memoryAlarm,
  unbind,
  purge,
  telemetryOutage,
  failpoint,
];

/** The fault of this name; `slow-close` is `slow_close`. Throws CliError (2) with the nearest name. */
export function findFault(name: string): AnyFault {
  const plain = (text: string) => text.replaceAll('_', '-');
  const found = faults.find((fault) => plain(fault.name) === plain(name));
  if (found) return found;
  const names = faults.map((fault) => fault.name);
  const suggestion = suggestName(name, names);
  throw new CliError({
    code: 'unknown_fault',
    what: `unknown fault "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `faults are ${names.join(', ')}; "shopctl chaos faults" lists targets and parameters`,
  });
}

/** What faults of a scope can be aimed at: on the running platform, or on one with a replica of each when none is given. */
export function targetsOf(scope: Scope, state?: Pick<PlatformState, 'edges' | 'instances'>): readonly string[] {
  const edgeNames = (state?.edges ?? edges).map(({ name }) => name);
  switch (scope) {
    case 'edge':
      return edgeNames;
    case 'database':
      return edges.map(({ name }) => name).filter((name) => name.endsWith('-db'));
    case 'service':
      return Object.keys(failpoints);
    case 'broker':
      return ['rabbitmq'];
    case 'telemetry':
      return ['telemetry'];
    case 'instance':
      return namesOf(
        serviceNames,
        state?.instances.filter(({ kind }) => kind === 'service'),
      );
    case 'process':
      return namesOf([...serviceNames, 'postgres', 'rabbitmq', 'toxiproxy'], state?.instances);
  }
}

/** Of a service and its instances; what would run when nothing does. */
function namesOf(usual: readonly string[], instances?: PlatformState['instances']): readonly string[] {
  return instances ? [...new Set(instances.flatMap(({ service, name }) => [service, name]))] : usual;
}

/** Throws CliError (2) when the fault cannot be aimed at the target, with what it can be aimed at. */
export function checkTarget(fault: AnyFault, target: string, state: Pick<PlatformState, 'edges' | 'instances'>): void {
  const targets = targetsOf(fault.scope, state);
  if (targets.includes(target)) return;
  // Said by prepare(), which knows why: the services are wired without proxies.
  if (fault.scope === 'edge' && state.edges.length === 0 && edges.some(({ name }) => name === target)) return;
  const suggestion = suggestName(target, targets);
  throw new CliError({
    code: 'unknown_fault_target',
    what: `${fault.name} cannot be injected into "${target}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `its targets are ${targets.length > 0 ? targets.join(', ') : 'none now'}`,
  });
}
