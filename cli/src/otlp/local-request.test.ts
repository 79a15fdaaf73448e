import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from './receiver.ts';

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
});
afterEach(() => receiver.close());

/** `fetch` does not let a caller choose Host. */
function statusOf(path: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { method: body === undefined ? 'GET' : 'POST', headers };
    request(`${receiver.url}${path}`, options, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end(body);
  });
}

describe('the telemetry receiver', () => {
  it.each(['127.0.0.1', '127.0.0.1:4318', 'localhost:4318', 'LOCALHOST', '[::1]:4318'])(
    'responds as %s',
    async (host) => {
      expect(await statusOf('/api/stats', { host })).toBe(200);
    },
  );

  it.each(['rebound.example', 'rebound.example:4318', '127.0.0.1.rebound.example', '0.0.0.0:4318'])(
    'does not serve a page whose name %s points here',
    async (host) => {
      expect(await statusOf('/api/stats', { host })).toBe(421);
    },
  );

  it('takes no spans from a web page', async () => {
    const headers = { 'content-type': 'application/json', origin: 'http://page.example' };
    expect(await statusOf('/v1/traces', headers, '{"resourceSpans":[]}')).toBe(403);
    expect(await statusOf('/v1/traces', { 'content-type': 'application/json' }, '{"resourceSpans":[]}')).toBe(200);
  });
});
