import { randomBytes } from 'node:crypto';
import type { ComponentContext, Launch } from '../../cli/src/providers/component.ts';
import { brokerDefinitions } from '../../cli/src/providers/rabbitmq/configuration.ts';
import { evaluateOnBroker } from '../../cli/src/providers/rabbitmq/evaluate.ts';
import { brokerUrl } from '../../cli/src/providers/urls.ts';
import { type BrokerUser, VIRTUAL_HOST } from '../../cli/src/topology/databases.ts';

/** URLs of one test file's own virtual host, by account. Exchanges and queues are declared by their users. */
export interface TestBroker {
  readonly ordersUrl: string;
  readonly shippingUrl: string;
  /** May do anything in the virtual host; for publishing and looking. */
  readonly operatorUrl: string;
}

/** Makes a virtual host with the platform's accounts and permissions. */
export async function createVirtualHost(launch: Launch, { secrets }: ComponentContext): Promise<TestBroker> {
  const name = `${VIRTUAL_HOST}-${randomBytes(6).toString('hex')}`;
  const definitions = JSON.parse(brokerDefinitions(secrets)) as { permissions: object[] };
  const added = {
    vhosts: [{ name }],
    permissions: definitions.permissions.map((permission) => ({ ...permission, vhost: name })),
  };
  const encoded = Buffer.from(JSON.stringify(added)).toString('base64');
  const response = await evaluateOnBroker(launch, `rabbit_definitions:import_raw(base64:decode(<<"${encoded}">>)).`);
  if (response.trim() !== 'ok') throw new Error(`the broker responded ${response.slice(0, 500)}`);
  const urlOf = (user: BrokerUser) => {
    const url = new URL(brokerUrl(user, { address: launch.address, secrets }));
    url.pathname = `/${name}`;
    return url.href;
  };
  return { ordersUrl: urlOf('orders'), shippingUrl: urlOf('shipping'), operatorUrl: urlOf('shop_operator') };
}
