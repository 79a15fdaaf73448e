import type { Verdict } from '../../shared/verdict.ts';
import type { EventCondition, ResolvedExperiment } from '../format/schema.ts';
import type { EventCount } from './event-count.ts';
import { countEvents, describeCondition, exactlyOf, isAsOften } from './event-counts.ts';
import type { Finding } from './findings.ts';
import { isProxy, proxyInterruptions } from './proxy-interruptions.ts';
import type { RunContext } from './run-context.ts';

/** No client of any experiment waits longer than this, ms (source: the client deadline of the format). */
const HANG_MS = 12_000;
const REACH_WITHIN_MS = 4_000;
const POLL_MS = 300;

/** What must never happen in any experiment: a process that no fault was aimed at ends, a client hangs. */
const ALWAYS_NEVER: readonly EventCondition[] = [
  { event: 'process.exit', 'at-least': 1 },
  { event: 'order.hang', above: HANG_MS, 'at-least': 1 },
];

/**
 * Counts reach and never conditions over the whole run. A state that was not reached makes the run unknown, for then
 * the experiment did not test what it is about. What happened more often than exactly so many times is a failure; what
 * cannot be counted is unknown either way.
 */
export async function checkConditions({ reach, never }: ResolvedExperiment, context: RunContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  // Each waits for its reports, a second: together they wait once. What must never happen has the time of the others.
  for (const { condition, count, evidence } of await countAll(reach, (condition) => reached(condition, context))) {
    const exactly = exactlyOf(condition);
    const isTooOften = exactly !== undefined && count !== undefined && count > exactly;
    const verdict = isTooOften ? 'fail' : isAsOften(condition, count) ? 'pass' : 'unknown';
    write('reach', condition, verdict, { count, evidence }, context);
    if (verdict === 'pass') continue;
    const observed = count === undefined ? evidence : `${count} of ${exactly ?? condition['at-least']}`;
    const problem = isTooOften ? 'happened too often' : 'was not reached';
    findings.push({ verdict, reason: `${describeCondition(condition)} ${problem}: ${observed}` });
  }
  const nevers = [...never, ...missingFrom(never)];
  for (const { condition, count, evidence } of await countAll(nevers, (condition) => countEvents(condition, context))) {
    const verdict = count === undefined ? 'unknown' : count >= condition['at-least'] ? 'fail' : 'pass';
    write('never', condition, verdict, { count, evidence }, context);
    if (verdict === 'pass') continue;
    const observed = count === undefined ? `cannot be counted: ${evidence}` : `${count} times (${evidence})`;
    findings.push({ verdict, reason: `${describeCondition(condition)} must never happen: ${observed}` });
  }
  return [...findings, ...checkProxy(context), ...checkFaults(context)];
}

function countAll(conditions: readonly EventCondition[], count: (condition: EventCondition) => Promise<EventCount>) {
  return Promise.all(conditions.map(async (condition) => ({ condition, ...(await count(condition)) })));
}

/** Whatever was measured with an interrupted Toxiproxy is not evidence, unless that was the fault. */
function checkProxy({ processEvents, faults, clock }: RunContext): Finding[] {
  if (faults.targets().some(({ target }) => isProxy(target))) return [];
  const [first] = proxyInterruptions(processEvents.all(), clock.date().getTime());
  if (first === undefined) return [];
  const reason = `Toxiproxy was interrupted under the run, and the faults in it: ${first.type.replace('instance.', '')} at ${first.time}`;
  return [{ verdict: 'unknown', reason }];
}

/** What was observed after another command had ended a fault was not observed under it. */
function checkFaults({ faults }: RunContext): Finding[] {
  return faults.cutShort().map((reason) => ({ verdict: 'unknown', reason: `${reason} in the middle of the run` }));
}

/** The file may state its own limits. */
function missingFrom(never: readonly EventCondition[]): readonly EventCondition[] {
  return ALWAYS_NEVER.filter(
    ({ event }) => !never.some((one) => one.event === event && !('target' in one && one.target)),
  );
}

/** The last thing that happened may be reported a second later. */
async function reached(condition: EventCondition, context: RunContext) {
  const deadline = context.clock.now() + REACH_WITHIN_MS;
  for (;;) {
    const counted = await countEvents(condition, context);
    if (isAsOften(condition, counted.count) || context.clock.now() > deadline) return counted;
    await context.clock.sleep(POLL_MS, context.signal);
  }
}

function write(
  type: 'reach' | 'never',
  condition: EventCondition,
  verdict: Verdict,
  { count, evidence }: { count: number | undefined; evidence: string },
  { journal }: RunContext,
): void {
  journal.write({ type, condition: { ...condition }, verdict, ...(count !== undefined && { count }), evidence });
}
