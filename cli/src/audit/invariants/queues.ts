import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE, RETRIES_QUEUE } from '@shop/kit/topology.ts';
import { formatCount } from '../../output/units.ts';
import type { QueueDepth } from '../../providers/rabbitmq/queues.ts';
import { type InvariantResult, type Violation, verdictOf } from '../invariant.ts';

export const QUEUES_TITLE = 'queues are empty';

/** What the queues are compared with. */
export interface QueueExpectation {
  /** Poison that was injected on purpose. */
  readonly deadLetters: number;
  /** Events that may still be on their way. */
  readonly onTheirWay: number;
}

/** I9: nothing waits in the queue or to be retried, and the dead letters are exactly what was injected. Pure. */
export function queuesResult(queues: readonly QueueDepth[], expected: QueueExpectation): InvariantResult {
  const main = queues.find(({ name }) => name === ORDER_CONFIRMED_QUEUE);
  const deadLetterQueue = queues.find(({ name }) => name === DEAD_LETTERS_QUEUE);
  const missing = [main ? [] : ORDER_CONFIRMED_QUEUE, deadLetterQueue ? [] : DEAD_LETTERS_QUEUE].flat();
  // Shipping declares it with its first connection.
  const retries = depthOf(queues.find(({ name }) => name === RETRIES_QUEUE));
  const waiting = depthOf(main) + retries;
  const inFlight = Math.min(waiting, expected.onTheirWay);
  const violations: Violation[] = [];
  if (waiting > inFlight) {
    violations.push({
      kind: 'stuck',
      subject: ORDER_CONFIRMED_QUEUE,
      detail: `${ORDER_CONFIRMED_QUEUE}: ${formatCount(waiting)} messages, ${formatCount(retries)} of them failed and to be retried; ${formatCount(inFlight)} may be on their way`,
    });
  }
  const deadLetters = depthOf(deadLetterQueue);
  if (deadLetterQueue !== undefined && deadLetters !== expected.deadLetters) {
    violations.push({
      kind: deadLetters > expected.deadLetters ? 'unexpected' : 'lost',
      subject: DEAD_LETTERS_QUEUE,
      detail: `${DEAD_LETTERS_QUEUE}: ${formatCount(deadLetters)} messages, ${formatCount(expected.deadLetters)} expected`,
    });
  }
  return {
    id: 'I9',
    title: QUEUES_TITLE,
    verdict: verdictOf(violations, missing),
    evidence:
      missing.length > 0
        ? `the broker has no queue ${missing.join(', ')}`
        : `${formatCount(main?.ready ?? 0)} ready, ${formatCount(main?.unacknowledged ?? 0)} unacknowledged, ${formatCount(deadLetters)} dead letters`,
    violations,
    inFlight,
  };
}

function depthOf(queue: QueueDepth | undefined): number {
  return queue === undefined ? 0 : queue.ready + queue.unacknowledged;
}
