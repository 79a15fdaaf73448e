import { type ServiceWith, services } from './services.ts';

/** A database, named after the service that stores in it. */
export type DatabaseName = ServiceWith<'mainTable'>;

/** The first table that each of these services writes, or reads, in its database. */
export const mainTables = Object.fromEntries(
  services.flatMap(({ name, mainTable }) => (mainTable === undefined ? [] : [[name, mainTable]])),
) as Readonly<Record<DatabaseName, string>>;

export const databaseNames = Object.keys(mainTables) as readonly DatabaseName[];

/** The role of the command line: reads all databases. */
export const OPERATOR_ROLE = 'shop_operator';

/** The role of `shopctl db`: reads all databases, and changes nothing. */
export const READER_ROLE = 'shop_reader';

/** Accounts on the broker. */
export type BrokerUser = ServiceWith<'usesBroker'> | typeof OPERATOR_ROLE;
export const brokerUsers = [
  ...services.flatMap(({ name, usesBroker }) => (usesBroker ? [name] : [])),
  OPERATOR_ROLE,
] as readonly BrokerUser[];

/** The broker's only virtual host. */
export const VIRTUAL_HOST = 'shop';

/** Who connects to a database: its migrations, its service, the command line, or statements of a user. */
export type DatabaseRole = 'owner' | 'service' | 'operator' | 'reader';
