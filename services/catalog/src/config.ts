import { commonVariables, databaseVariables, parseEnvironment } from '@shop/kit/config.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { checkSharedPort, inheritedPortVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedPortVariables,
  ...databaseVariables(poolSizeOf('catalog')),
});

export type CatalogConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): CatalogConfig {
  const values = parseEnvironment(variables, env);
  checkSharedPort(values);
  return values;
}
