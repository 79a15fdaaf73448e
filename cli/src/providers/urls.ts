import {
  type BrokerUser,
  type DatabaseName,
  type DatabaseRole,
  OPERATOR_ROLE,
  READER_ROLE,
  VIRTUAL_HOST,
} from '../topology/databases.ts';
import type { Address } from './component.ts';
import type { Secrets } from './secrets.ts';

/** `postgres://role:password@host:port/database`. Holds a password: never print it. */
export function databaseUrl(
  role: DatabaseRole,
  database: DatabaseName,
  { address, secrets }: { readonly address: Address; readonly secrets: Secrets },
): string {
  const { user, password } = databaseAccount(role, database, secrets);
  return `postgres://${user}:${encodeURIComponent(password)}@${address.host}:${address.port}/${database}`;
}

/** Name and password of a role as PostgreSQL knows it. */
export function databaseAccount(role: DatabaseRole, database: DatabaseName, { postgres }: Secrets) {
  switch (role) {
    case 'owner':
      return { user: `${database}_owner`, password: postgres.owners[database] };
    case 'service':
      return { user: database, password: postgres.services[database] };
    case 'operator':
      return { user: OPERATOR_ROLE, password: postgres.operator };
    // The same user has both, and the reader may do less.
    case 'reader':
      return { user: READER_ROLE, password: postgres.operator };
  }
}

/**
 * `amqp://user:password@host:port/shop`, or the URL of a broker that is not ours: accounts cannot be made there, so all
 * three users share the one it names. Holds a password: never print it.
 */
export function brokerUrl(
  user: BrokerUser,
  {
    address,
    secrets,
    externalUrl,
  }: { readonly address: Address; readonly secrets: Secrets; readonly externalUrl?: string },
): string {
  if (externalUrl !== undefined) return externalUrl;
  const password = encodeURIComponent(secrets.rabbitmq.users[user]);
  return `amqp://${user}:${password}@${address.host}:${address.port}/${VIRTUAL_HOST}`;
}
