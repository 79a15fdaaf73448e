import { messageOf } from '../../../errors.ts';
import type { QueueProbe } from '../../format/schema.ts';
import { type StepResult, unknown } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

/** Looks at a queue of the broker. A broker that cannot be asked is unknown. */
export async function probeQueue({ provider, tolerance }: QueueProbe, { platform }: RunContext): Promise<StepResult> {
  const { name, field } = provider;
  const expected = `${name} ${field} ${describeTolerance(tolerance)}`;
  try {
    const queue = (await platform.audited.queues()).find((one) => one.name === name);
    if (queue === undefined) return unknown(`there is no queue ${name}`, { expected });
    const { ready, unacknowledged: unacked, consumers } = queue;
    const value = { ready, unacked, depth: ready + unacked, consumers }[field];
    return { outcome: isWithin(value, tolerance) ? 'held' : 'deviated', expected, observed: `${field} ${value}` };
  } catch (error) {
    return unknown(messageOf(error), { expected });
  }
}
