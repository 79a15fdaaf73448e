import { edges as callEdges } from '@shop/kit/edges.ts';
import { FAILPOINT_NAME } from '@shop/kit/failpoint-names.ts';
import { type TProperties, Type } from 'typebox';
import { closed, defaulted, duration, oneOf } from './values.ts';

const edgeNames = Object.keys(callEdges) as (keyof typeof callEdges)[];

const atLeast = defaulted(Type.Integer({ minimum: 1, default: 1, description: 'how often, at least' }));
/** The supervisor tells every one of them; what services count may be lost with them, so that it can only be a least. */
const exactly = Type.Optional(
  Type.Integer({ minimum: 1, description: 'how often, neither more nor less; instead of at-least, and not in never' }),
);
const edge = oneOf(edgeNames, 'the edge whose calls are meant');

function event<const Name extends string, P extends TProperties>(name: Name, description: string, properties: P) {
  return closed({ event: Type.Literal(name, { description }), ...properties, 'at-least': atLeast });
}

/** Every event there is, in the order of the documentation. Counters count from the beginning of the run. */
export const eventSchemas = [
  event('breaker.open', 'a circuit breaker opened', { edge }),
  event('breaker.half-open', 'a circuit breaker let a first call through again', { edge }),
  event('breaker.closed', 'a circuit breaker closed again', { edge }),
  event('call.retried', 'a call was tried again', { edge: Type.Optional(edge) }),
  event('compensation.retried', 'a refund or release failed and was due again', {}),
  event('saga.recovered', 'a saga of a process that had gone was taken over', {}),
  event('duplicate', 'shipping was delivered an event it had processed before', {}),
  event('dead-lettered', 'shipping sent a message to the dead letters', {}),
  event('failpoint', 'a failpoint was reached', {
    at: Type.String({
      pattern: `^[a-z]+\\.${FAILPOINT_NAME}$`,
      description: 'service and failpoint: orders.stock-reserved:unsaved',
    }),
  }),
  event('process.exit', 'a process ended that no fault was aimed at', {
    target: Type.Optional(Type.String({ minLength: 1, description: 'this service, instance or component only' })),
    exactly,
  }),
  event('process.restarted', 'the supervisor started a process again', {
    target: Type.String({ minLength: 1, description: 'service, instance or component' }),
    exactly,
  }),
  event('order.hang', 'a client waited longer than this for an answer', {
    above: duration('longest wait that is no hang'),
  }),
  event('order.status-flip', 'an order was told with two different results', {}),
] as const;

export const EventCondition = Type.Union([...eventSchemas], { description: 'something that happens during a run' });
