import { writeDuration } from '../../shared/duration.ts';
import type { EventCondition, ResolvedExperiment, Step } from './schema.ts';

/** Keys that hold times, in ms once they were read. */
const TIMES = new Set([
  'within',
  'for',
  'ttl',
  'timeout',
  'above',
  'settle',
  'duration',
  'p50',
  'p95',
  'max',
  'latency',
  'jitter',
  'delay',
]);

/** Defaults, which are not worth a mention. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  count: 1,
  parallel: 1,
  product: 1,
  quantity: 1,
  key: true,
  timeout: 12_000,
  arrivals: 'constant',
  'at-least': 1,
  which: 'each',
  of: 'sum',
  phase: 'all',
};

/** A step as one line: what it does or probes, and what must hold. */
export function describeStep(step: Step): string {
  if (step.type === 'hold') return `hold for ${writeDuration(step.for)}`;
  const parts = [
    describeProvider(step.provider),
    'tolerance' in step ? `must be ${describeTolerance(step.provider, step.tolerance)}` : '',
    'within' in step && step.within !== undefined ? `within ${writeDuration(step.within)}` : '',
    'for' in step && step.for !== undefined ? `for ${writeDuration(step.for)}` : '',
    'ttl' in step && step.ttl !== undefined ? `expires after ${writeDuration(step.ttl)}` : '',
    'background' in step && step.background ? 'in the background' : '',
    step.stop ? 'ends the method when it does not hold' : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** `breaker.open of orders-payments, at least 2 times` */
export function describeEvent(condition: EventCondition): string {
  const { event, 'at-least': atLeast, exactly, ...where } = { exactly: undefined, ...condition };
  const least = atLeast === 1 ? '' : `, at least ${atLeast} times`;
  const times = exactly === undefined ? least : `, exactly ${exactly} times`;
  return `${event}${listOf(where, ' ')}${times}`;
}

/** Rules of the audit as one line. */
export function describeAudit({ audit }: ResolvedExperiment): string {
  const { accept, expect, 'dead-letters': deadLetters, settle } = audit;
  const parts = [
    'every invariant holds',
    ...Object.entries(accept).map(([id, verdicts]) => `${id} may be ${verdicts.join(' or ')}`),
    ...Object.keys(expect).map((id) => `${id} must be violated`),
    ...(deadLetters > 0 ? [`${deadLetters} messages in the dead letters`] : []),
    `evaluated after ${writeDuration(settle)} at the latest`,
  ];
  return parts.join('; ');
}

function describeProvider(provider: Exclude<Step, { type: 'hold' }>['provider']): string {
  if (provider.type === 'fault') {
    return `fault ${provider.fault} into ${provider.target}${listOf(provider.parameters, ': ')}`;
  }
  if (provider.type === 'event') {
    const { type: _, ...condition } = provider;
    return `event ${describeEvent(condition)}`;
  }
  const { type, ...rest } = provider;
  const stated = Object.entries(rest).filter(
    ([key, value]) => DEFAULTS[key] !== value || (type !== 'metric' && key === 'of'),
  );
  return `${type}${listOf(Object.fromEntries(stated), ': ')}`;
}

function describeTolerance(provider: { readonly type: string }, tolerance: unknown): string {
  // What a scalar means is known from the provider; a bare object needs its keys.
  if (provider.type === 'ready' && typeof tolerance === 'boolean') return tolerance ? 'ready' : 'not ready';
  return write(tolerance, false);
}

function listOf(values: object, before: string): string {
  const parts = Object.entries(values).map(([key, value]) => `${key} ${write(value, TIMES.has(key))}`);
  return parts.length === 0 ? '' : `${before}${parts.join(', ')}`;
}

const WORDS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '=', ne: 'not' };

function write(value: unknown, isTime: boolean): string {
  if (typeof value === 'number') return isTime ? writeDuration(value) : String(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, isTime)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(
    ([key, one]) => `${WORDS[key] ?? key} ${write(one, isTime ? key in WORDS || key === 'range' : TIMES.has(key))}`,
  );
  const isComparison = Object.keys(value).every((key) => key in WORDS);
  return isComparison ? parts.join(' and ') : `{${parts.join(', ')}}`;
}
