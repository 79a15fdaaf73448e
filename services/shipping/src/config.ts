import { commonVariables, databaseVariables, keepDays, parseEnvironment, url } from '@shop/kit/config.ts';
import { BOOKS_KEEP_DAYS, EVENT_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizes } from '@shop/kit/pool-sizes.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(poolSizes.shipping),
  BROKER_URL: url('amqps?'),
  /** Messages that one instance has in hand at once. */
  CONSUMER_PREFETCH: Type.Integer({ minimum: 1, maximum: 10_000, default: 50 }),
  /**
   * How long a message that was processed is known, in days. Longer than its event is kept to be published again: a
   * message that is forgotten would have its effect a second time.
   */
  INBOX_KEEP_DAYS: keepDays(EVENT_KEEP_DAYS + 1, 400),
  /** How long a shipment is kept, in days; its parcel stays. */
  SHIPMENTS_KEEP_DAYS: keepDays(BOOKS_KEEP_DAYS),
});

export type ShippingConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): ShippingConfig {
  return parseEnvironment(variables, env);
}
