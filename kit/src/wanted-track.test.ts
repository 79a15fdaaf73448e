import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHealth } from './health.ts';
import { createLogger } from './logger.ts';
import { createServer, type HttpServer } from './server.ts';
import { seeTelemetry } from './spans/testing.ts';
import { TRACK_HEADER, wantedTrack } from './wanted-track.ts';

seeTelemetry();
let server: HttpServer;

beforeAll(async () => {
  const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
  server = createServer({ logger, health: createHealth({}), isPublic: true });
  server.post('/orders', async () => ({ track: wantedTrack() ?? null }));
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

/** What a handler sees once the body of its request has arrived. */
async function seen(headers: Record<string, string>): Promise<unknown> {
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/orders`;
  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } };
  return ((await (await fetch(url, init)).json()) as { track: unknown }).track;
}

it('the track that a request names is known to all that it causes', async () => {
  expect(await seen({ [TRACK_HEADER]: 'green' })).toBe('green');
  expect(wantedTrack()).toBeUndefined();
});

it('no track, and one that there is not, leave the choice to the weights', async () => {
  expect(await seen({})).toBeNull();
  expect(await seen({ [TRACK_HEADER]: 'mauve' })).toBeNull();
});
