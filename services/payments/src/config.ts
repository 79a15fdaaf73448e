import { commonVariables, databaseVariables, faultVariables, parseEnvironment } from '@shop/kit/config.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(4),
  ...faultVariables,
});

export type PaymentsConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): PaymentsConfig {
  return parseEnvironment(variables, env);
}
