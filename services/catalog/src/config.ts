import { commonVariables, databaseVariables, faultVariables, parseEnvironment } from '@shop/kit/config.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(4),
  ...faultVariables,
});

export type CatalogConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): CatalogConfig {
  return parseEnvironment(variables, env);
}
