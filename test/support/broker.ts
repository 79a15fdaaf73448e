import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { ComponentContext, Launch } from '../../cli/src/providers/component.ts';
import { type BrokerUser, VIRTUAL_HOST } from '../../cli/src/providers/databases.ts';
import { execInContainer } from '../../cli/src/providers/docker.ts';
import { brokerDefinitions } from '../../cli/src/providers/rabbitmq/configuration.ts';
import { brokerUrl } from '../../cli/src/providers/urls.ts';

/** URLs of one test file's own virtual host, by account. Exchanges and queues are declared by whoever uses them. */
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
  await evaluate(launch, `rabbit_definitions:import_raw(base64:decode(<<"${encoded}">>)).`);
  const urlOf = (user: BrokerUser) => {
    const url = new URL(brokerUrl(user, { address: launch.address, secrets }));
    url.pathname = `/${name}`;
    return url.href;
  };
  return { ordersUrl: urlOf('orders'), shippingUrl: urlOf('shipping'), operatorUrl: urlOf('shop_operator') };
}

/** Runs an Erlang expression in the broker; throws when it does not return `ok`. */
async function evaluate({ info }: Launch, expression: string): Promise<void> {
  const answer =
    typeof info.container === 'string'
      ? await execInContainer(info.container, ['rabbitmqctl', '-q', 'eval', expression])
      : await erlCall(info, expression);
  if (!/^(\{ok, *)?ok\}?$/.test(answer.trim())) throw new Error(`the broker answered ${answer.slice(0, 500)}`);
}

async function erlCall(info: Launch['info'], expression: string): Promise<string> {
  const { erlCall, home, node, distributionPort, epmdPort } = info;
  const target = epmdPort === undefined ? ['-address', `127.0.0.1:${distributionPort}`] : ['-sname', String(node)];
  const child = spawn(String(erlCall), [...target, '-e'], {
    env: {
      HOME: String(home),
      PATH: '/usr/bin:/bin',
      ...(epmdPort !== undefined && { ERL_EPMD_PORT: String(epmdPort) }),
    },
    timeout: 10_000,
  });
  child.stdin.on('error', () => undefined); // Reported by the exit code and stderr below.
  child.stdin.end(`${expression}\n`);
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`erl_call ended with ${code}: ${errors.slice(0, 500)}`);
  return out;
}
