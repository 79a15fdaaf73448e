import type { Client } from 'pg';

export interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The same again, with the driver's other options in a URL (`?sslmode=verify-full`). Holds the password. */
  readonly url?: string;
  /** How long a statement may wait for a lock; without it, until the server ends. */
  readonly lockTimeoutMs?: number;
  /** Transactions cannot write, unless they say that they do. */
  readonly isReadOnly?: boolean;
}

/** As PostgreSQL's programs take it in PGOPTIONS. */
export const READ_ONLY_OPTION = '-c default_transaction_read_only=on';

const CONNECT_TIMEOUT_MS = 10_000;

/** Runs `work` with a separate connection and closes it. */
export async function withClient<Result>(login: Login, work: (client: Client) => Promise<Result>): Promise<Result> {
  // Imported here: a warm start that only probes never pays for the driver.
  const { default: pg } = await import('pg');
  const { lockTimeoutMs, isReadOnly, url, ...rest } = login;
  const settings = [
    ...(lockTimeoutMs === undefined ? [] : [`-c lock_timeout=${lockTimeoutMs}`]),
    ...(isReadOnly ? [READ_ONLY_OPTION] : []),
  ];
  const client = new pg.Client({
    ...rest,
    ...(url !== undefined && { connectionString: url }),
    application_name: 'shopctl',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(settings.length > 0 && { options: settings.join(' ') }),
  });
  // A connection lost in mid-query also rejects the query; without a listener it would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
