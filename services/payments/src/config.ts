import { commonVariables, databaseVariables, faultVariables, parseEnvironment } from '@shop/kit/config.ts';
import { poolSizes } from '@shop/kit/pool-sizes.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(poolSizes.payments),
  ...faultVariables,
});

export type PaymentsConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): PaymentsConfig {
  return parseEnvironment(variables, env);
}
