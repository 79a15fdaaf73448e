import { commonVariables, databaseVariables, parseEnvironment } from '@shop/kit/config.ts';
import { type Static, Type } from 'typebox';

const variables = Type.Object({
  ...commonVariables,
  ...databaseVariables(4),
  /** Folder in which tests arm failpoints; see the kit's failpoints.ts. */
  FAILPOINT_DIR: Type.Optional(Type.String({ minLength: 1 })),
});

export type PaymentsConfig = Static<typeof variables>;

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): PaymentsConfig {
  return parseEnvironment(variables, env);
}
