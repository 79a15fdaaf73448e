import type { InstanceState } from '../../../platform/state.ts';
import { processState } from '../../../process/proc.ts';
import type { ProcessProbe } from '../../format/schema.ts';
import type { Baseline, RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin, type Value } from '../tolerance.ts';

/** Probes one process as the supervisor and the operating system see it. */
export async function probeProcess({ provider, tolerance }: ProcessProbe, context: RunContext): Promise<StepResult> {
  const { target, field, since } = provider;
  const expected = `${target} ${field} ${describeTolerance(tolerance)}`;
  const { instances } = await context.platform.connection.control.state();
  const ofService = instances.filter(({ service }) => service === target);
  const instance = instances.find(({ name }) => name === target) ?? ofService[0];
  if (instance?.name !== target && ofService.length > 1) {
    return unknown(`${target} has ${ofService.length} processes: name ${instance?.name} or another one`, { expected });
  }
  if (instance === undefined) return unknown(`${target} is unknown to the supervisor`, { expected });
  const value = read(instance, field);
  if (value === undefined) {
    // A share of CPU is measured between two looks.
    const why = field === 'cpu' && instance.process !== undefined ? 'was not measured before' : 'does not run';
    return unknown(`${instance.name} ${why}`, { expected });
  }
  const before = since === undefined ? 0 : beforeOf(instance, field, context.baselines.get(since));
  if (before === undefined) return unknown(`${field} at "${since}" is not known`, { expected });
  const observed = typeof value === 'number' ? value - before : value;
  return { verdict: isWithin(observed, tolerance) ? 'pass' : 'fail', expected, observed: `${field} ${observed}` };
}

/** Restarts and memory are compared; the other fields have no difference. */
function beforeOf(
  { name }: InstanceState,
  field: ProcessProbe['provider']['field'],
  baseline: Baseline | undefined,
): number | undefined {
  return field === 'restarts' || field === 'rss' ? baseline?.[field]?.[name] : undefined;
}

function read(
  { process, restarts, rssBytes, cpuPercent }: InstanceState,
  field: ProcessProbe['provider']['field'],
): Value | undefined {
  switch (field) {
    case 'restarts':
      return restarts;
    case 'pid':
      return process?.pid;
    case 'rss':
      return rssBytes;
    case 'cpu':
      return cpuPercent;
    case 'state':
      return process === undefined ? undefined : processState(process.pid)?.state;
  }
}
