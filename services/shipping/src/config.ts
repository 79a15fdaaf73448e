import { commonVariables, databaseVariables, keepDays, parseEnvironment, url } from '@shop/kit/config.ts';
import { EVENT_KEEP_DAYS, FINANCIAL_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { checkSharedPort, inheritedPortVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

/** The rules of alerts take it as the most that a consumer holds. */
export const DEFAULT_PREFETCH = 50;

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedPortVariables,
  ...databaseVariables(poolSizeOf('shipping')),
  BROKER_URL: url('`amqp://user:password@127.0.0.1:port/shop`', 'amqps?'),
  SHOP_SHADOW: Type.Optional(
    Type.Literal('1', { description: 'handles copies of the events, and rolls back what it does: set by a deploy' }),
  ),
  CONSUMER_PREFETCH: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: DEFAULT_PREFETCH,
    description: 'unacknowledged messages of one instance',
  }),
  // Longer than an event is kept to be published again: a message that is forgotten would have its effect a second time.
  INBOX_KEEP_DAYS: keepDays('days that a processed message is remembered', EVENT_KEEP_DAYS + 1, 400),
  SHIPMENTS_KEEP_DAYS: keepDays('days that a shipment is kept; its parcel stays', FINANCIAL_KEEP_DAYS),
});

export type ShippingConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): ShippingConfig {
  const values = parseEnvironment(variables, env);
  checkSharedPort(values);
  return values;
}
