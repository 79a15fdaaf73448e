import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { componentWays } from './component.ts';
import { describeProviders, installComponent, resolveComponent } from './resolve.ts';
import { aContext } from './testing.ts';

it('says of each way why it does not serve and what would help, with exit code 3', async () => {
  await using context = await aContext({ env: { PATH: '/nowhere' } });
  const error = await resolveComponent('toxiproxy', context).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ComponentUnavailableError', exitCode: 3 });
  const { why } = error as { why: string };
  expect(why).toContain('url: SHOPCTL_TOXIPROXY_URL is not set');
  expect(why).toContain('installed: no "toxiproxy-server" on PATH');
  expect(why).toContain('go: no "go" on PATH; install Go from go.dev');
});

it('takes a running one before an installed one', async () => {
  await using context = await aContext({
    env: { SHOPCTL_POSTGRES_URL: 'postgres://admin:hidden@db.example:6543/main' },
  });
  const launch = await resolveComponent('postgres', context);
  expect(launch).toMatchObject({ kind: 'url', run: { type: 'external' }, address: { host: 'db.example', port: 6543 } });
  expect(launch.detail).not.toContain('hidden');
});

it('takes the program on PATH before the built one', async () => {
  await using context = await aContext();
  const folder = join(context.stateDir, 'bin');
  await mkdir(folder);
  await writeFile(join(folder, 'toxiproxy-server'), '#!/bin/sh\n');
  await chmod(join(folder, 'toxiproxy-server'), 0o755);
  const launch = await resolveComponent('toxiproxy', { ...context, env: { PATH: folder } });
  expect(launch).toMatchObject({ kind: 'installed', detail: `Toxiproxy from ${join(folder, 'toxiproxy-server')}` });
});

it('tries a forced way alone', async () => {
  await using context = await aContext({ env: { SHOPCTL_POSTGRES_URL: 'postgres://admin@db.example/main' } });
  expect(await resolveComponent('postgres', context, { forced: 'embedded' })).toMatchObject({ kind: 'embedded' });
});

it('names the ways there are when a forced one does not exist', async () => {
  await using context = await aContext();
  await expect(resolveComponent('rabbitmq', context, { forced: 'embedded' })).rejects.toMatchObject({
    why: '  embedded: rabbitmq has no such way; it has url, installed, docker, packages',
  });
});

it('describes every way of every component, quickly', async () => {
  await using context = await aContext();
  const startedAt = performance.now();
  const ways = await describeProviders(context);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  const kinds = Object.entries(ways).map(([name, all]) => [name, all.map(({ kind }) => kind)]);
  expect(Object.fromEntries(kinds)).toEqual(componentWays);
  expect(
    Object.values(ways)
      .flat()
      .every(({ detail }) => detail.length > 0),
  ).toBe(true);
});

it('says why when nothing can be installed', async () => {
  await using context = await aContext({ env: { PATH: '/nowhere' } });
  await expect(installComponent('toxiproxy', context, () => undefined)).rejects.toMatchObject({ exitCode: 3 });
});
