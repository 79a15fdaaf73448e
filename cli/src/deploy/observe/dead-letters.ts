import { DEAD_LETTERS_QUEUE } from '@shop/kit/topology.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

export const QUEUE_MESSAGES = 'shop.queue.messages';

/** Messages that are dead letters now; undefined while the broker does not say. */
export function deadLettersIn(points: readonly MetricPoint[]): number | undefined {
  const point = points.find(
    ({ name, attributes, stale }) => name === QUEUE_MESSAGES && attributes.queue === DEAD_LETTERS_QUEUE && !stale,
  );
  return point?.type === 'histogram' ? undefined : point?.value;
}

export function readDeadLetters(before: number | undefined, now: number | undefined, at: number): GuardReading {
  const reading = reads('dead-letter', at);
  if (before === undefined || now === undefined) return reading('unknown', 'the broker does not say');
  const added = now - before;
  return added > 0 ? reading('tripped', `dead letters added: ${added}`) : reading('held', `${now}, as before`);
}
