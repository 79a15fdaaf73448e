import { commonVariables, parseEnvironment, parseList } from '@shop/kit/config.ts';
import { type EdgeLimits, loadEdge } from '@shop/kit/edges.ts';
import { checkSharedPort, sharedPortVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

const origin = 'https?://[^/,\\s]+/?';
/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...sharedPortVariables,
  ORDERS_URLS: Type.String({
    pattern: `^\\s*${origin}(\\s*,\\s*${origin})*\\s*$`,
    description: 'base URLs of the replicas of orders, separated by commas',
  }),
  ADMISSION_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'file with the share of new orders that are shed, read again when it changes; without it none is shed',
    }),
  ),
});

export interface GatewayConfig extends Static<typeof variables> {
  readonly ordersOrigins: readonly string[];
  readonly ordersEdge: EdgeLimits;
}

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  const values = parseEnvironment(variables, env);
  checkSharedPort(values);
  return Object.freeze({
    ...values,
    ordersOrigins: parseList(values.ORDERS_URLS).map((url) => new URL(url).origin),
    ordersEdge: loadEdge('gateway-orders', env),
  });
}
