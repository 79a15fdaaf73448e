import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { AlarmReport, Binding, BindingReport, ResourceAlarm } from '../../operations/broker.ts';
import { operate } from '../../operations/operations-client.ts';
import { formatTable } from '../../output/table.ts';
import { formatBytes } from '../../output/units.ts';
import { type ChangingOptions, changeOf } from './changing.ts';

/** `shopctl ops broker alarms`. */
export async function runAlarms(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const report = await operate(deps.projectFrom(options), 'broker-alarms', undefined);
  deps.output.result(report, describeAlarms);
}

/** `shopctl ops broker free`. */
export async function runBrokerFree(options: ChangingOptions, deps: CommandDeps): Promise<void> {
  const result = await operate(deps.projectFrom(options), 'broker-free', changeOf(options));
  deps.output.result(result, ({ ended, dryRun }) => {
    if (ended.length === 0) return 'no alarm is on';
    const limits = `${ended.join(' and ')}: the limit of the configuration`;
    return dryRun ? `would set for ${limits}` : `${ended.join(' and ')} alarm ended\n${describeAlarms(result)}`;
  });
}

/** `shopctl ops broker bindings`. */
export async function runBindings(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const report = await operate(deps.projectFrom(options), 'broker-bindings', undefined);
  deps.output.result(report, ({ bindings }) => describeBindings(bindings));
}

/** `shopctl ops broker bind`. */
export async function runBind(options: ChangingOptions, deps: CommandDeps): Promise<void> {
  const result = await operate(deps.projectFrom(options), 'broker-bind', changeOf(options));
  deps.output.result(result, ({ restored, dryRun }) => {
    if (restored.length === 0) return 'no binding is missing';
    return restored.map((binding) => `${dryRun ? 'would bind' : 'bound'} ${pathOf(binding)}`).join('\n');
  });
}

export function describeAlarms({ alarms, blockedConnections }: AlarmReport): string {
  const table = formatTable(
    ['ALARM', 'STATE', 'LIMIT', 'MEASURED'],
    alarms.map((alarm) => [alarm.resource, alarm.isOn ? 'on' : 'off', ...measuredOf(alarm)]),
  );
  return `${table}\n\nconnections that publish and are blocked: ${blockedConnections}`;
}

function measuredOf({
  resource,
  limitBytes,
  measuredBytes,
}: ResourceAlarm): readonly [limit: string, measured: string] {
  const measured = measuredBytes === null ? 'unknown' : formatBytes(measuredBytes);
  if (resource === 'disk') return [`at least ${formatBytes(limitBytes)} free`, `${measured} free`];
  return [`at most ${formatBytes(limitBytes)} used`, `${measured} used`];
}

export function describeBindings(bindings: readonly BindingReport[]): string {
  return formatTable(
    ['STATE', 'BINDING'],
    bindings.map((binding) => [binding.state, pathOf(binding)]),
  );
}

/** `shop.events -> shipping.order-confirmed (order.confirmed)` */
function pathOf({ exchange, queue, routingKey }: Binding): string {
  return `${exchange} -> ${queue}${routingKey === '' ? '' : ` (${routingKey})`}`;
}
