import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exitCodes } from '../../exit-codes.ts';
import { openPsql, runDb } from './run-db.ts';

// Goal: psql gets the right account, and its password where other users do not see it.
// Method: a program of that name that writes what it is given. Statements are tested against PostgreSQL (debugging.e2e.test.ts).
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-psql-'));
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(folder, { recursive: true });
});

async function psqlThat(does: string): Promise<NodeJS.ProcessEnv> {
  await writeFile(join(folder, 'psql'), `#!/bin/sh\n${does}\n`);
  await chmod(join(folder, 'psql'), 0o755);
  return { PATH: `${folder}:${process.env.PATH}`, SEEN: join(folder, 'seen') };
}

const login = { host: '127.0.0.1', port: 5433, user: 'shop_reader', password: 'secret', database: 'orders' };

it.each([
  [true, '-c default_transaction_read_only=on'],
  [false, ''],
])('psql is given the account in its environment, read-only: %s', async (isReadOnly, options) => {
  const env = await psqlThat('echo "$# $PGUSER $PGPASSWORD $PGHOST $PGPORT $PGDATABASE [$PGOPTIONS]" > "$SEEN"');
  await openPsql({ ...login, isReadOnly }, { env, onInterrupt() {} });
  expect(await readFile(join(folder, 'seen'), 'utf8')).toBe(
    `0 shop_reader secret 127.0.0.1 5433 orders [${options}]\n`,
  );
  expect(process.exitCode).toBe(exitCodes.ok);
});

it('a session that failed is a failure', async () => {
  await openPsql(login, { env: await psqlThat('exit 3'), onInterrupt() {} });
  expect(process.exitCode).toBe(exitCodes.failed);
});

it('the name of an unknown service is refused, and the nearest is named', async () => {
  await expect(runDb('order', { role: 'read-only' }, {} as never)).rejects.toMatchObject({
    exitCode: exitCodes.usage,
    what: 'there is no service "order", did you mean "orders"?',
  });
});

it('a service without a database is refused before anything is connected to', async () => {
  await expect(runDb('gateway', { role: 'read-only' }, {} as never)).rejects.toMatchObject({
    exitCode: exitCodes.usage,
    what: 'gateway has no database',
    next: expect.stringContaining('orders'),
  });
});
