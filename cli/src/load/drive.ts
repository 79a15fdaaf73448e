import { setTimeout as delay } from 'node:timers/promises';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { Phase, Scenario } from '../../../scenarios/lib/scenarios.ts';
import type { RunningK6 } from './k6-process.ts';
import { whySaturated } from './knee.ts';
import { measurePhases } from './measured.ts';
import type { Observer } from './observe.ts';

const POLL_MS = 200;
/**
 * Steps that did not hold until a ramp is ended: one more than the knee needs, so that one slow step does not end it.
 */
const ENOUGH_STEPS = 2;

/** When the first order was sent, on the monotonic clock; undefined when k6 ended without any. */
export async function untilFirstOrder(observer: Pick<Observer, 'records'>, k6: RunningK6): Promise<number | undefined> {
  let isOver = false;
  void k6.ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const [first] = observer.records;
    if (first !== undefined) return performance.now() - (Date.now() - first.at);
    await delay(POLL_MS);
  }
  return undefined;
}

/**
 * Ends a ramp once two steps that are over did not hold: more load would only make longer queues. Resolves with when it
 * did so, ms since 1970, or undefined, when k6 has ended.
 */
export async function endWhenSaturated(
  { requests }: Scenario,
  phases: readonly Phase[],
  { observer, k6 }: { observer: Pick<Observer, 'records'>; k6: RunningK6 },
): Promise<number | undefined> {
  let isOver = false;
  void k6.ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (countSaturated(phases, observer.records, requests) >= ENOUGH_STEPS) {
      const cutAt = Date.now();
      await k6.stop();
      return cutAt;
    }
    await delay(POLL_MS * 5);
  }
  return undefined;
}

/** A record has whole ms, and not what k6 itself took, ms. */
const CLOCK_SLACK_MS = 50;

/** Orders that were in flight when k6 was ended were cut off by that, and not by the system: the audit finds them by key. */
export function dropTruncatedRecords(
  records: readonly OrderRecord[],
  cutAt: number | undefined,
): readonly OrderRecord[] {
  if (cutAt === undefined) return records;
  return records.filter(({ http, at, tookMs }) => http !== 0 || at + tookMs < cutAt - CLOCK_SLACK_MS);
}

function countSaturated(phases: readonly Phase[], records: Observer['records'], requests: number): number {
  const [first] = records;
  if (first === undefined) return 0;
  // Orders of a step may still be on their way when the next one has begun: a step is looked at when that one is over too.
  const over = phases.filter(({ startS, durationS }) => Date.now() - first.at > (startS + durationS * 1.5) * 1000);
  return measurePhases(over, records, requests).filter((step) => whySaturated(step) !== undefined).length;
}

/** Those that used most of a core at the first step that did not hold, or over the whole ramp when there is none. */
export function busiestAtKnee(
  step: Phase | undefined,
  { usage }: Pick<Observer, 'usage'>,
  startedAt: number,
): readonly string[] {
  const [from, to] = step ? [step.startS, step.startS + step.durationS] : [0, Number.POSITIVE_INFINITY];
  const report = usage.report(startedAt + from * 1000, startedAt + to * 1000) ?? usage.report();
  if (report === undefined) return [];
  const top = report.processes.toSorted((a, b) => b.averagePercent - a.averagePercent).slice(0, 4);
  return [
    `all ${report.machine.cores} cores ${report.machine.averagePercent} %`,
    `others on this machine ${report.machine.othersPercent} %`,
    ...top.map(({ name, averagePercent }) => `${name} ${averagePercent} %`),
  ];
}
