import { edges as callEdges } from '@shop/kit/edges.ts';
import { FAILPOINT_NAME } from '@shop/kit/failpoint-names.ts';
import { type TProperties, Type } from 'typebox';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { duration } from './values.ts';

const edgeNames = Object.keys(callEdges) as (keyof typeof callEdges)[];

const atLeast = defaulted(Type.Integer({ minimum: 1, default: 1, description: 'how often, at least' }));
/** The supervisor reports each of them; counters of services may be lost with their process, so they give a lower bound. */
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
  event('breaker.half-open', 'a circuit breaker let a trial call through', { edge }),
  event('breaker.closed', 'a circuit breaker closed again', { edge }),
  event('call.retried', 'a call was retried', { edge: Type.Optional(edge) }),
  event('compensation.retried', 'a refund or release failed and was scheduled again', {}),
  event('saga.recovered', 'a saga of a stopped process was taken over', {}),
  event('duplicate', 'shipping received an event that it had already processed', {}),
  event('dead-lettered', 'shipping sent a message to the dead letters', {}),
  event('failpoint', 'a failpoint was reached', {
    at: Type.String({
      pattern: `^[a-z]+\\.${FAILPOINT_NAME}$`,
      description: 'service and failpoint: orders.stock-reserved:unsaved',
    }),
  }),
  event('process.exit', 'a process ended that was not the target of a fault', {
    target: Type.Optional(Type.String({ minLength: 1, description: 'this service, instance or component only' })),
    exactly,
  }),
  event('process.restarted', 'the supervisor started a process again', {
    target: Type.String({ minLength: 1, description: 'service, instance or component' }),
    exactly,
  }),
  event('alert.fired', 'an alert began to fire', {
    name: Type.Optional(Type.String({ minLength: 1, description: 'name of an alert; without it any page' })),
  }),
  event('order.hang', 'a client waited longer than this for a response', {
    above: duration('longest wait that is not a hang'),
  }),
  event('order.status-flip', 'an order was reported with two different results', {}),
] as const;

export const EventCondition = Type.Union([...eventSchemas], { description: 'something that happens during a run' });
