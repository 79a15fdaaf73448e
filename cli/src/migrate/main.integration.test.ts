import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';

const run = promisify(execFile);
const names = readdirSync(new URL('../../../migrations/payments', import.meta.url)).map((file) =>
  basename(file, '.sql'),
);
const program = new URL('main.ts', import.meta.url).pathname;

/** Its last log line. Rejects when it ends with another code than 0. */
async function migrate(url: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, [program, 'payments'], { env: { ...process.env, DATABASE_URL: url } });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

it(
  'applies what an empty database lacks, as its owner and readable for its service, and nothing a second time',
  async () => {
    const { url, ownerUrl } = await createDatabase('payments');
    const owner = new pg.Client(ownerUrl);
    await owner.connect();
    await owner.query('DROP SCHEMA migrations CASCADE; DROP TABLE payments, payment_effects');
    await owner.end();

    expect(await migrate(ownerUrl)).toMatchObject({
      msg: 'migrations applied',
      applied: names,
    });
    expect(await migrate(ownerUrl)).toMatchObject({ msg: 'nothing to apply' });

    const service = new pg.Client(url);
    await service.connect();
    expect((await service.query('SELECT count(*)::int AS count FROM payments')).rows).toEqual([{ count: 0 }]);
    await service.end();
  },
  START_TIMEOUT_MS,
);

it(
  'ends with 1 and says why when the role may not change tables',
  async () => {
    const { url, ownerUrl } = await createDatabase('payments');
    const owner = new pg.Client(ownerUrl);
    await owner.connect();
    await owner.query('DROP SCHEMA migrations CASCADE');
    await owner.end();
    await expect(migrate(url)).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('permission denied') });
  },
  START_TIMEOUT_MS,
);
