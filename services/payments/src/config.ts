import { commonVariables, databaseVariables, keepDays, parseEnvironment } from '@shop/kit/config.ts';
import { FINANCIAL_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { checkSharedPort, inheritedPortVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedPortVariables,
  ...databaseVariables(poolSizeOf('payments')),
  PAYMENTS_KEEP_DAYS: keepDays(
    'days that a payment is kept after its last change; its charges and refunds stay',
    FINANCIAL_KEEP_DAYS,
  ),
});

export type PaymentsConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): PaymentsConfig {
  const values = parseEnvironment(variables, env);
  checkSharedPort(values);
  return values;
}
