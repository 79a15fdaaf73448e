import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BrokerUser, brokerUsers, VIRTUAL_HOST } from '../../topology/databases.ts';
import { writePrivateFile } from '../private-file.ts';
import type { Secrets } from '../secrets.ts';
import { neededApplications } from './layout.ts';

/** One broker's own folder and what is in it. */
export interface BrokerFiles {
  readonly base: string;
  /** HOME of the broker and of `erl_call`: holds the cookie. */
  readonly home: string;
  readonly mnesia: string;
  readonly applications: string;
  readonly definitions: string;
  readonly configuration: string;
  readonly enabledPlugins: string;
}

export function brokerFiles(base: string): BrokerFiles {
  return {
    base,
    home: join(base, 'home'),
    mnesia: join(base, 'mnesia'),
    applications: join(base, 'applications'),
    definitions: join(base, 'definitions.json'),
    configuration: join(base, 'advanced.config'),
    enabledPlugins: join(base, 'enabled_plugins'),
  };
}

/**
 * Names on the broker that orders and shipping declare, publish to and read from. Declaring a queue with a dead-letter
 * exchange takes `read` on the queue and `write` on the exchange; binding takes `write` on the queue and `read` on the
 * exchange. Source: RabbitMQ "Authentication, Authorisation, Access Control", table of operations.
 */
const TOPOLOGY = '^(shop\\.events|shop\\.dead-letters|shipping\\.order-confirmed|shipping\\.dead-letters)$';
const WITH_RETRIES =
  '^(shop\\.events|shop\\.dead-letters|shipping\\.(order-confirmed(\\.(retries|shadow))?|dead-letters|retries|redeliveries))$';
const ORDERS_READS = '^(shop\\.events|shop\\.dead-letters|shipping\\.order-confirmed)$';

interface Permission {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

const permissions: Readonly<Record<BrokerUser, Permission>> = {
  orders: { configure: TOPOLOGY, write: TOPOLOGY, read: ORDERS_READS },
  shipping: { configure: WITH_RETRIES, write: WITH_RETRIES, read: WITH_RETRIES },
  shop_operator: { configure: '.*', write: '.*', read: '.*' },
};

/** Users, virtual host and permissions in RabbitMQ's definitions format. The user `guest` is not among them. */
export function brokerDefinitions({ rabbitmq }: Pick<Secrets, 'rabbitmq'>): string {
  const users = brokerUsers.map((name) => ({
    name,
    password_hash: passwordHash(rabbitmq.users[name]),
    hashing_algorithm: 'rabbit_password_hashing_sha256',
    tags: '',
  }));
  const vhosts = [{ name: VIRTUAL_HOST }];
  return JSON.stringify({
    users,
    vhosts,
    permissions: brokerUsers.map((user) => ({ user, vhost: VIRTUAL_HOST, ...permissions[user] })),
  });
}

/** Base64 of a 4-byte salt and SHA-256(salt + password). Source: RabbitMQ "Credentials and Passwords". */
function passwordHash(password: string, salt = randomBytes(4)): string {
  const digest = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, digest]).toString('base64');
}

/**
 * When the write-ahead log of the quorum queues begins a new file. Until then all its entries stay in memory, also
 * those of messages that were acknowledged: 1.7 MB for each MB of the file. RabbitMQ's default, 512 MB, is meant for a
 * dedicated machine. Source: RabbitMQ "Quorum Queues", resource use.
 */
export const WAL_MAX_BYTES = 16 * 1024 ** 2;

/**
 * Writes everything a broker reads at start. The settings are Erlang terms rather than `rabbitmq.conf`, because reading
 * the latter loads the schemas of all applications. The definitions are applied at every start, before the port opens.
 */
export async function writeBrokerFiles(files: BrokerFiles, amqpPort: number, secrets: Secrets): Promise<void> {
  await Promise.all([files.home, files.mnesia].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  const settings = `[{rabbit, [
  {tcp_listeners, [{"127.0.0.1", ${amqpPort}}]},
  {load_definitions, ${JSON.stringify(files.definitions)}}
]},
{ra, [{wal_max_size_bytes, ${WAL_MAX_BYTES}}]}].
`;
  await Promise.all([
    writePrivateFile(files.definitions, brokerDefinitions(secrets)),
    writePrivateFile(files.configuration, settings),
    writePrivateFile(files.enabledPlugins, '[].\n'),
    writeCookie(join(files.home, '.erlang.cookie'), secrets.rabbitmq.cookie),
  ]);
}

/** Erlang refuses a cookie file that others can read, and wants no newline. */
async function writeCookie(file: string, cookie: string): Promise<void> {
  if (existsSync(file) && (await readFile(file, 'utf8')) === cookie) return chmod(file, 0o400);
  await writePrivateFile(file, cookie, 0o400);
}

/**
 * Fills `folder` with links to the applications RabbitMQ needs and nothing else: at start it looks into every
 * application it can see, and that is most of its boot time. Links of another version are replaced.
 */
export async function linkApplications(folder: string, plugins: string): Promise<void> {
  const wanted = await neededApplications(plugins);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const present = new Set(await readdir(folder));
  const names = new Set(wanted.map((application) => basename(application.folder)));
  const stale = [...present].filter((name) => !names.has(name));
  await Promise.all(stale.map((name) => rm(join(folder, name), { recursive: true })));
  await Promise.all(
    wanted.map(async (application) => {
      const link = join(folder, basename(application.folder));
      // A link may point into a clone or cache that has moved since.
      await rm(link, { recursive: true, force: true });
      await symlink(application.folder, link);
    }),
  );
}
