import { messageOf } from '../../../errors.ts';
import type { QueueProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

/** Probes a queue of the broker. The result is unknown when the broker does not respond. */
export async function probeQueue({ provider, tolerance }: QueueProbe, { platform }: RunContext): Promise<StepResult> {
  const { name, field } = provider;
  const expected = `${name} ${field} ${describeTolerance(tolerance)}`;
  try {
    const queue = (await platform.audited.queues()).find((one) => one.name === name);
    if (queue === undefined) return unknown(`queue ${name} does not exist`, { expected });
    const { ready, unacknowledged: unacked, consumers } = queue;
    const value = { ready, unacked, depth: ready + unacked, consumers }[field];
    return { verdict: isWithin(value, tolerance) ? 'pass' : 'fail', expected, observed: `${field} ${value}` };
  } catch (error) {
    return unknown(messageOf(error), { expected });
  }
}
