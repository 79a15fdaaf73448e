import { Type } from 'typebox';
import type { Reading } from '../../yaml/expected.ts';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { duration, rate, stepName } from './values.ts';

const positive = (description: string, byDefault: number, maximum = 100_000) =>
  defaulted(Type.Integer({ minimum: 1, maximum, default: byDefault, description }));

/** What is ordered, and how a client asks. */
const orderFields = {
  product: positive(
    'product that is ordered; 1 is affordable, 11 costs exactly the limit, 12 more, 10 has 10 units',
    1,
  ),
  quantity: positive('units of it', 1, 1_000),
  lines: Type.Optional(
    Type.Array(
      closed({ product: Type.Integer({ minimum: 1 }), quantity: Type.Integer({ minimum: 1, maximum: 1_000 }) }),
      {
        minItems: 1,
        maxItems: 100,
        description: 'several lines, instead of product and quantity',
      },
    ),
  ),
  key: defaulted(
    Type.Union([Type.Boolean(), Type.String({ minLength: 1, maxLength: 200 })], {
      default: true,
      description: 'Idempotency-Key: true (a new one for each order), false (none), or a text (the same for all)',
    }),
  ),
  timeout: defaulted(duration('how long a client waits for its response', { default: '12s' })),
};

export const OrdersProvider = closed(
  {
    type: Type.Literal('orders', { description: 'places orders through the gateway and waits for their responses' }),
    count: positive('how many orders', 1),
    parallel: positive('how many concurrent clients; each places one order after the other', 1, 1_000),
    ...orderFields,
    'repeat-of': Type.Optional(stepName('places that step’s orders again: same keys, same bodies')),
  },
  { description: 'orders' },
);

export const LoadProvider = closed(
  {
    type: Type.Literal('load', {
      description: 'orders at a rate, whatever the responses; runs in the background of the next steps',
    }),
    rate: rate('orders per second or minute: 20/s, 90/m'),
    for: Type.Optional(duration('how long')),
    until: Type.Optional(Type.Literal('stop', { description: 'until stop-load, or the end of the method' })),
    arrivals: defaulted(
      oneOf(
        ['constant', 'random'],
        'constant: evenly apart; random: independent of each other (Poisson), by the seed',
        {
          default: 'constant',
        },
      ),
    ),
    ...orderFields,
  },
  { description: 'load' },
);

/** A fault's name, target and parameters; `parameters` are the fault's own, durations in ms. */
export interface FaultProvider {
  readonly type: 'fault';
  readonly fault: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** In the file parameters are beside `fault` and `target`; which there are is the fault catalog's (see faults.ts). */
export const FaultProvider = Type.Unsafe<FaultProvider>(
  Type.Object(
    {
      type: Type.Literal('fault', { description: 'injects a fault, and proves that it is in effect' }),
      fault: Type.String({ minLength: 1, description: 'name of the fault (shopctl chaos faults)' }),
      target: Type.String({ minLength: 1, description: 'edge, service, instance or component' }),
    },
    { reads: 'fault' satisfies Reading },
  ),
);

export const RevertProvider = closed(
  {
    type: Type.Literal('revert', { description: 'reverts a fault and proves that it is gone' }),
    of: Type.Optional(stepName('the step whose fault is meant; default: all faults')),
  },
  { description: 'revert' },
);

export const ServiceProvider = closed(
  {
    type: Type.Literal('service', { description: 'restarts a service, an instance or a component in order' }),
    do: oneOf(['restart'], 'what is done; to keep it stopped is a fault, `stop`'),
    target: Type.String({ minLength: 1, description: 'service, instance or component' }),
  },
  { description: 'service' },
);

export const PublishProvider = closed(
  {
    type: Type.Literal('publish', { description: 'publishes messages directly to the broker, which no service does' }),
    exchange: defaulted(Type.String({ minLength: 1, default: 'shop.events', description: 'exchange' })),
    'routing-key': defaulted(Type.String({ minLength: 1, default: 'order.confirmed', description: 'routing key' })),
    of: Type.Optional(stepName('the step whose orders the messages are about')),
    messages: Type.Array(
      closed({
        preset: oneOf(
          ['duplicate', 'swap', 'old', 'v2', 'not-json', 'wrong-type', 'no-id', 'large', 'unknown-event'],
          'what the message is',
        ),
        times: positive('how often it is published', 1, 1_000),
        parallel: positive('on how many concurrent channels', 1, 100),
      }),
      { minItems: 1, description: 'what is published, in this order' },
    ),
  },
  { description: 'publish' },
);

export const StopLoadProvider = closed(
  {
    type: Type.Literal('stop-load', { description: 'ends a load and waits for the outstanding responses' }),
    of: stepName('the step that started it'),
  },
  { description: 'stop-load' },
);

export const JoinProvider = closed(
  {
    type: Type.Literal('join', { description: 'waits for a background step and evaluates it here' }),
    of: stepName('the background step'),
  },
  { description: 'join' },
);
