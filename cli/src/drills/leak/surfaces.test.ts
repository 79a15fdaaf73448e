import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../format/schema.ts';
import { sinceStartOf, tracesOf, unread } from './surfaces.ts';

const faultOf = (fault: string, target: string): Pick<Scenario, 'inject'> => ({
  inject: [{ type: 'fault', fault, target, parameters: {} }],
});
const texts = [
  { surface: 'GET /metrics', text: 'not read: other side closed' },
  { surface: 'GET /v1/state', text: '{}' },
  { surface: 'shopctl status', text: 'not read: it has no end' },
];

it('a surface that could not be read is named with its reason', () => {
  expect(unread(texts, faultOf('down', 'orders-broker'))).toEqual([
    'GET /metrics: not read: other side closed',
    'shopctl status: not read: it has no end',
  ]);
});

it('telemetry that the scenario disconnects is left out, other surfaces are not', () => {
  expect(unread(texts, faultOf('telemetry-outage', 'telemetry'))).toEqual(['shopctl status: not read: it has no end']);
});

it('events of earlier rounds, which are revealed, are left out', () => {
  const before = {
    type: 'drill.ended',
    message: 'the drill 20260101-110000 is over (void): what should be injected was not',
  };
  const started = { type: 'drill.started', message: 'a drill is on: 20260101-120000, commitment 00' };
  const after = { type: 'instance.ready', message: 'stock-1 is ready' };
  expect(sinceStartOf('20260101-120000', [before, started, after])).toEqual([started, after]);
  expect(sinceStartOf('20260101-130000', [before, after])).toEqual([before, after]);
});

describe('traces', () => {
  const statuses = { stored: 200, gone: 404, broken: 500 };
  /** What is read from a store that lists these. */
  const readFrom = async (...listed: readonly (keyof typeof statuses)[]) => {
    const server = createServer(({ url = '' }, response) => {
      const id = listed.find((one) => url.endsWith(`/${one}`));
      if (id !== undefined) response.writeHead(statuses[id]).end(`spans of ${id}`);
      else if (url.startsWith('/api/logs')) response.end(`logs of ${url.split('=')[1]}`);
      else response.end(JSON.stringify({ traceIds: url.endsWith('=00') ? listed : [] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      return await tracesOf(`http://127.0.0.1:${port}`, new AbortController().signal);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it('that are gone since they were listed are left out, and their log records are not', async () => {
    expect(await readFrom('gone', 'stored')).toBe('logs of gone\nspans of stored\nlogs of stored');
  });

  it('of which all are gone are not read', async () => {
    await expect(readFrom('gone')).rejects.toThrow('all of 1 traces are gone since they were listed');
  });

  it('of which one cannot be read are not read', async () => {
    await expect(readFrom('stored', 'broken')).rejects.toThrow('500 Internal Server Error');
  });
});
