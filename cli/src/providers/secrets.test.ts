import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecrets, loadOrCreateSecrets } from './secrets.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-secrets-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('gives the same secrets to all concurrent callers', async () => {
  const file = join(folder, 'secrets.json');
  const all = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateSecrets(file)));
  expect(new Set(all.map((secrets) => JSON.stringify(secrets))).size).toBe(1);
  expect(await loadOrCreateSecrets(file)).toEqual(all[0]);
  expect(await readdir(folder)).toEqual(['secrets.json']);
});

it('keeps the file for its user alone', async () => {
  const file = join(folder, 'deep', 'secrets.json');
  await loadOrCreateSecrets(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'deep'))).mode & 0o777).toBe(0o700);
});

it('gives every account a separate password, fit for a URL', () => {
  const { postgres, rabbitmq } = createSecrets();
  const passwords = [
    ...[postgres.superuser, postgres.operator, rabbitmq.cookie],
    ...[postgres.owners, postgres.services, rabbitmq.users].flatMap((accounts) => Object.values(accounts)),
  ];
  expect(new Set(passwords).size).toBe(3 + 5 + 5 + 3);
  expect(passwords.every((password) => /^[A-Za-z0-9_-]{32}$/.test(password))).toBe(true);
});

it.each(['{"postgres":{"superuser":"keep-secret"', '{"postgres":{"superuser":"keep-secret"}}'])(
  'refuses a damaged file without quoting it: %s',
  async (content) => {
    const file = join(folder, 'secrets.json');
    await writeFile(file, content);
    const error = await loadOrCreateSecrets(file).catch((reason: Error) => reason);
    expect(String(error)).toMatch(/secrets\.json: not a file of secrets/);
    expect(String(error)).not.toContain('keep-secret');
    expect(await readFile(file, 'utf8')).toBe(content);
  },
);
