import { messageOf } from '../../errors.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import type { EventCondition } from '../format/schema.ts';
import { countFired } from './alert-events.ts';
import { readHits } from './baselines.ts';
import { gained, readFresh, silenceOf } from './counters.ts';
import type { EventCount } from './event-count.ts';
import { type EventCounter, eventCounters } from './event-counters.ts';
import { concerns } from './process-events.ts';
import { isProxy } from './proxy-interruptions.ts';
import type { RunContext } from './run-context.ts';

/**
 * The counter behind a condition, of its edge where it states one; undefined when it is not an increment of a counter.
 */
function counterOf(condition: EventCondition): EventCounter | undefined {
  const counter = eventCounters.get(condition.event);
  if (counter === undefined || !('edge' in condition) || condition.edge === undefined) return counter;
  return { ...counter, where: { ...counter.where, edge: condition.edge } };
}

/** How often an event has happened since the run began. Never throws: what cannot be read has no count. */
export async function countEvents(condition: EventCondition, context: RunContext): Promise<EventCount> {
  const counter = counterOf(condition);
  try {
    if (counter !== undefined) return await countByMetric(counter, context);
    return await countOther(condition, context);
  } catch (error) {
    context.signal.throwIfAborted();
    return { count: undefined, evidence: messageOf(error) };
  }
}

async function countByMetric({ metric, where }: EventCounter, context: RunContext): Promise<EventCount> {
  const { baselines, platform, clock, signal } = context;
  const start = baselines.get('start')?.counters;
  if (start === undefined) return { count: undefined, evidence: 'the counters at the start of the run are not known' };
  const reading = await readFresh(platform.telemetry, [metric], { clock, signal });
  if (reading === undefined) return { count: undefined, evidence: 'services do not report metrics' };
  const silence = silenceOf(reading, metric, where);
  if (silence !== undefined) return { count: undefined, evidence: silence };
  return { count: gained(reading.points, start, where), evidence: metric };
}

async function countOther(condition: EventCondition, context: RunContext): Promise<EventCount> {
  const { orders, baselines, clock } = context;
  switch (condition.event) {
    case 'failpoint': {
      const start = baselines.get('start');
      if (start === undefined) return { count: undefined, evidence: 'the hits at the start of the run are not known' };
      const now = readHits(context.platform);
      if (start.hits === undefined || now === undefined) {
        return { count: undefined, evidence: 'the services run without failpoints' };
      }
      return { count: (now[condition.at] ?? 0) - (start.hits[condition.at] ?? 0), evidence: `hits of ${condition.at}` };
    }
    case 'process.exit':
      return countExits(condition.target, context);
    case 'process.restarted':
      return countProcesses(context.processEvents.starts(), condition.target, context);
    case 'alert.fired':
      return countFired(condition, context);
    case 'order.hang': {
      const waited = orders.orders.map(({ response, invokedAt }) => response?.tookMs ?? clock.now() - invokedAt);
      const count = waited.filter((ms) => ms >= condition.above).length;
      return { count, evidence: `of ${waited.length} orders, the slowest ${Math.round(Math.max(0, ...waited))} ms` };
    }
    case 'order.status-flip':
      return { count: orders.flipped.size, evidence: `${orders.orders.length} orders` };
    default:
      return { count: undefined, evidence: `no service counts ${condition.event}` };
  }
}

/**
 * Of a target all; without one only those that no fault explains, and of the shop: see `checkConditions` for Toxiproxy. A
 * fault explains the ends of what it is aimed at from when it was asked for until it was reverted.
 */
function countExits(target: string | undefined, context: RunContext): EventCount {
  const { processEvents, faults } = context;
  const exits = processEvents.exits();
  if (target !== undefined) return countProcesses(exits, target, context);
  const gap = processEvents.gap();
  if (gap !== undefined) return { count: undefined, evidence: gap };
  const isExplained = ({ subject, time }: PlatformEvent) =>
    faults
      .targets()
      .some(({ target: one, from, until }) => concerns(subject, one) && isBetween(Date.parse(time), from, until));
  const others = exits.filter((exit) => !isProxy(exit.subject) && !isExplained(exit));
  const names = others.map(({ subject, message }) => `${subject}: ${message}`);
  return { count: others.length, evidence: names.join('; ') || 'the supervisor saw none' };
}

function isBetween(time: number, from: number, until = Number.POSITIVE_INFINITY): boolean {
  return from <= time && time <= until;
}

function countProcesses(
  events: readonly { readonly subject: string }[],
  target: string,
  { processEvents }: RunContext,
): EventCount {
  const gap = processEvents.gap();
  if (gap !== undefined) return { count: undefined, evidence: gap };
  return {
    count: events.filter(({ subject }) => concerns(subject, target)).length,
    evidence: 'the supervisor’s events',
  };
}

/** Whether it has happened as often as is wanted; undefined when it is not known. */
export function isAsOften(condition: EventCondition, count: number | undefined): boolean | undefined {
  if (count === undefined) return undefined;
  const exactly = exactlyOf(condition);
  return exactly === undefined ? count >= condition['at-least'] : count === exactly;
}

export function exactlyOf(condition: EventCondition): number | undefined {
  return 'exactly' in condition ? condition.exactly : undefined;
}

/** `breaker.open of orders-payments` */
export function describeCondition(condition: EventCondition): string {
  const { event, 'at-least': _, exactly: __, ...rest } = { exactly: undefined, ...condition };
  const details = Object.values(rest).filter((value) => value !== undefined);
  return details.length === 0 ? event : `${event} of ${details.join(', ')}`;
}
