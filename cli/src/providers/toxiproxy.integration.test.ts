import { expect, it } from 'vitest';
import { installComponent, resolveComponent } from './resolve.ts';
import { aContext, sharedCacheDir, startLaunch } from './testing.ts';

const BUILD_LIMIT_MS = 600_000;

it(
  'serves its API on a free loopback port',
  async () => {
    await using context = await aContext({
      cacheDir: sharedCacheDir(),
      env: { GOFLAGS: process.env.GOFLAGS, GOPROXY: process.env.GOPROXY },
    });
    await installComponent('toxiproxy', context, (message) => process.stderr.write(`${message}\n`));
    const launch = await resolveComponent('toxiproxy', context);
    await using running = await startLaunch(launch);
    const response = await fetch(`http://127.0.0.1:${launch.address.port}/proxies`);
    expect(await response.json()).toEqual({});
    expect(running.readyMs).toBeLessThan(5_000);
  },
  BUILD_LIMIT_MS,
);
