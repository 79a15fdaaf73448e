/** The five databases of the platform. */
export type DatabaseName = 'catalog' | 'orders' | 'stock' | 'payments' | 'shipping';

/** The five databases, one per service that stores something. */
export const databaseNames: readonly DatabaseName[] = ['catalog', 'orders', 'stock', 'payments', 'shipping'];

/** The role of the command line: reads all five databases. */
export const OPERATOR_ROLE = 'shop_operator';

/** Accounts on the broker. */
export const brokerUsers = ['orders', 'shipping', OPERATOR_ROLE] as const;
export type BrokerUser = (typeof brokerUsers)[number];

/** The broker's only virtual host. */
export const VIRTUAL_HOST = 'shop';

/** Who connects to a database: its migrations, its service, or the command line. */
export type DatabaseRole = 'owner' | 'service' | 'operator';
