import { commonVariables, databaseVariables, faultVariables, parseEnvironment, url } from '@shop/kit/config.ts';
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
  INBOX_KEEP_DAYS: Type.Integer({ minimum: 366, maximum: 36_500, default: 400 }),
  ...faultVariables,
});

export type ShippingConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): ShippingConfig {
  return parseEnvironment(variables, env);
}
