import type { EventProbe } from '../../format/schema.ts';
import { countEvents, describeCondition, exactlyOf, isAsOften } from '../event-counts.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/** Checks whether an event has happened since the run began. Not yet is a failure: `within` waits for it. */
export async function probeEvent({ provider }: EventProbe, context: RunContext): Promise<StepResult> {
  const { type: _, ...condition } = provider;
  const exactly = exactlyOf(condition);
  const times = exactly === undefined ? `at least ${condition['at-least']}` : `exactly ${exactly}`;
  const expected = `${describeCondition(condition)} ${times} times`;
  const { count, evidence } = await countEvents(condition, context);
  if (count === undefined) return unknown(evidence, { expected });
  return {
    verdict: isAsOften(condition, count) ? 'pass' : 'fail',
    expected,
    observed: `${count} times (${evidence})`,
  };
}
