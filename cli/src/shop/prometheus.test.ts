// Goal: what Prometheus responds is read whole, and every way in which it does not respond is an error of ours.
// Method: responses as 2.42 and 3.x give them, from a server on loopback.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceState } from '../platform/state.ts';
import { createPrometheusClient, requirePrometheus } from './prometheus.ts';

let server: Server;
let asked: URL[];
let respond: RequestListener;
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://prometheus'));
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = (timeoutMs?: number) => createPrometheusClient(url(), timeoutMs);
/** What it responds to the next questions. */
function responds(data: unknown): void {
  respond = (_, response) => response.end(JSON.stringify({ status: 'success', data }));
}

describe('a query', () => {
  it('at one time gives a value per series, also those that are no ordinary numbers', async () => {
    const values = ['1.5', '+Inf', '-Inf', 'NaN'];
    const result = values.map((value, index) => ({ metric: { job: `j${index}` }, value: [1700000000.123, value] }));
    responds({ resultType: 'vector', result });
    const samples = await client().queryInstant('up > 0', 1_700_000_000_500);
    expect(samples[0]).toEqual({ labels: { job: 'j0' }, timeMs: 1_700_000_000_123, value: 1.5 });
    expect(samples.map(({ value }) => value)).toEqual([1.5, Infinity, -Infinity, NaN]);
    expect(asked.map(({ pathname }) => pathname)).toEqual(['/api/v1/query']);
    expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({ query: 'up > 0', time: '1700000000.5' });
  });

  it('of a scalar gives one value without labels', async () => {
    responds({ resultType: 'scalar', result: [1700000000, '2'] });
    expect(await client().queryInstant('scalar(x)')).toEqual([{ labels: {}, timeMs: 1_700_000_000_000, value: 2 }]);
  });

  it('of a range, where one value is asked for, is refused', async () => {
    responds({ resultType: 'matrix', result: [] });
    await expect(client().queryInstant('up[1m]')).rejects.toMatchObject({ code: 'query_failed', exitCode: 1 });
  });

  it('over a range gives the points of each series', async () => {
    responds({
      resultType: 'matrix',
      result: [
        {
          metric: { job: 'a' },
          values: [
            [1, '0'],
            [2, '1'],
          ],
        },
      ],
    });
    expect(await client().queryRange('up', { startMs: 1_000, endMs: 2_000, stepMs: 500 })).toEqual([
      {
        labels: { job: 'a' },
        points: [
          { timeMs: 1_000, value: 0 },
          { timeMs: 2_000, value: 1 },
        ],
      },
    ]);
    expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({
      query: 'up',
      start: '1',
      end: '2',
      step: '0.5',
    });
  });

  it('that it refuses is an error with what it says', async () => {
    respond = (_, response) =>
      response
        .writeHead(400)
        .end(JSON.stringify({ status: 'error', errorType: 'bad_data', error: '1:4: parse error' }));
    await expect(client().queryInstant('up{')).rejects.toMatchObject({
      code: 'query_failed',
      what: 'Prometheus refuses "up{"',
      why: '1:4: parse error',
    });
  });
});

describe('rules and alerts', () => {
  const alert = {
    state: 'firing',
    labels: { alertname: 'OutboxStalled', severity: 'page' },
    annotations: { summary: 'it stands' },
    activeAt: '2026-11-24T05:00:00.5Z',
    value: '1e+01',
  };
  const read = {
    name: 'OutboxStalled',
    state: 'firing',
    labels: { severity: 'page' },
    annotations: { summary: 'it stands' },
    activeAtMs: Date.parse('2026-11-24T05:00:00.5Z'),
    value: 10,
  };

  it('are read with their names and states', async () => {
    responds({ alerts: [alert] });
    expect(await client().alerts()).toEqual([read]);
    const alerting = {
      type: 'alerting',
      name: 'OutboxStalled',
      query: 'x > 1',
      health: 'ok',
      state: 'firing',
      alerts: [alert],
    };
    const recording = { type: 'recording', name: 'job:x', query: 'sum(x)', health: 'err', lastError: 'many-to-many' };
    responds({ groups: [{ name: 'shop', rules: [alerting, recording] }] });
    expect(await client().rules()).toMatchObject([
      { group: 'shop', kind: 'alerting', name: 'OutboxStalled', state: 'firing', alerts: [read], labels: {} },
      { group: 'shop', kind: 'recording', name: 'job:x', health: 'err', lastError: 'many-to-many', alerts: [] },
    ]);
  });

  it('and which version evaluates them', async () => {
    responds({ version: '2.42.0+ds' });
    expect(await client().version()).toBe('2.42.0+ds');
  });
});

describe('no response', () => {
  it('that is one of Prometheus', async () => {
    respond = (_, response) => response.writeHead(503).end('Service Unavailable');
    await expect(client().alerts()).rejects.toMatchObject({
      code: 'prometheus_unreachable',
      exitCode: 4,
      why: expect.stringContaining('503, and not as Prometheus does: Service Unavailable'),
    });
  });

  it('in time', async () => {
    respond = () => {};
    await expect(client(50).alerts()).rejects.toMatchObject({ why: 'no response in 0.05 s' });
  });

  it('that has an end', async () => {
    respond = (_, response) => {
      const chunk = 'x'.repeat(1 << 20);
      const more = () => void response.write(chunk, (error) => error ?? more());
      more();
    };
    await expect(client().alerts()).rejects.toMatchObject({ why: 'the response has more than 32 MiB' });
  });

  it('because nothing listens', async () => {
    const gone = client();
    await new Promise((resolve) => server.close(resolve));
    await expect(gone.alerts()).rejects.toMatchObject({
      code: 'prometheus_unreachable',
      why: expect.stringContaining('ECONNREFUSED'),
      next: expect.stringContaining('shopctl logs prometheus'),
    });
  });
});

describe('of a platform', () => {
  const instance = (state: Partial<InstanceState>): InstanceState => ({
    name: 'prometheus',
    service: 'prometheus',
    kind: 'component',
    status: 'ready',
    ports: { main: 1 },
    restarts: 0,
    url: url(),
    ...state,
  });

  it('without it, the way to get it is said, with exit code 3', () => {
    expect(() => requirePrometheus({ instances: [instance({ service: 'jaeger' })] })).toThrow(
      expect.objectContaining({ code: 'alerts_off', exitCode: 3, next: expect.stringContaining('up --with alerts') }),
    );
  });

  it('where it is not ready, what it does is said, with exit code 4', () => {
    expect(() => requirePrometheus({ instances: [instance({ status: 'backoff', reason: 'exit code 1' })] })).toThrow(
      expect.objectContaining({
        code: 'component_not_running',
        exitCode: 4,
        what: 'Prometheus is backoff',
        why: 'exit code 1',
      }),
    );
  });

  it('it is asked at its address', async () => {
    responds({ alerts: [] });
    expect(await requirePrometheus({ instances: [instance({})] }).alerts()).toEqual([]);
  });
});
