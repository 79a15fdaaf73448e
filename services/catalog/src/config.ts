import { commonVariables, databaseVariables, parseEnvironment } from '@shop/kit/config.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { type Static, Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(poolSizeOf('catalog')),
});

export type CatalogConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): CatalogConfig {
  return parseEnvironment(variables, env);
}
