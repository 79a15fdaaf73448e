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
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Runs `work` with a separate connection and closes it. */
export async function withClient<Result>(login: Login, work: (client: Client) => Promise<Result>): Promise<Result> {
  // Imported here: a warm start that only probes never pays for the driver.
  const { default: pg } = await import('pg');
  const { lockTimeoutMs, url, ...rest } = login;
  const client = new pg.Client({
    ...rest,
    ...(url !== undefined && { connectionString: url }),
    application_name: 'shopctl',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(lockTimeoutMs !== undefined && { options: `-c lock_timeout=${lockTimeoutMs}` }),
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
