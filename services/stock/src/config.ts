import { commonVariables, databaseVariables, keepDays, parseEnvironment, port } from '@shop/kit/config.ts';
import { BOOKS_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizes } from '@shop/kit/pool-sizes.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(poolSizes.stock),
  /** HTTP door for health beside the gRPC one on PORT. */
  HEALTH_PORT: port(),
  /** How long a reservation is kept after its last change, in days. */
  RESERVATIONS_KEEP_DAYS: keepDays(BOOKS_KEEP_DAYS),
});

export type StockConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): StockConfig {
  return parseEnvironment(variables, env);
}
