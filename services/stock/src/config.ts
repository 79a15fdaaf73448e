import { commonVariables, databaseVariables, keepDays, parseEnvironment, port } from '@shop/kit/config.ts';
import { FINANCIAL_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { inheritedSocketVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedSocketVariables,
  ...databaseVariables(poolSizeOf('stock')),
  HEALTH_PORT: port('port for health over HTTP, beside gRPC on `PORT`'),
  RESERVATIONS_KEEP_DAYS: keepDays('days that a reservation is kept after its last change', FINANCIAL_KEEP_DAYS),
});

export type StockConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): StockConfig {
  return parseEnvironment(variables, env);
}
