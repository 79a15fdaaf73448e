/** Against a real PostgreSQL: what was written for a message; and a server that responds as an instance in the shadow. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { createShadowSource } from './shadow-source.ts';

const lines = [{ productId: 1, quantity: 2 }];
let databaseUrl: string;
let client: pg.Client;
beforeAll(async () => {
  ({ url: databaseUrl } = await createDatabase('shipping'));
  client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
}, START_TIMEOUT_MS);
afterAll(() => client.end());

/** Resolves with the address of a server, which is closed after `work`. */
async function serving(
  respond: (request: IncomingMessage) => { status: number; body: object },
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer((request, response) => {
    const { status, body } = respond(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('what was written for messages', () => {
  it('is that of the inbox, the shipment and its parcels', async () => {
    const [messageId, orderId] = [randomUUID(), randomUUID()];
    await client.query('INSERT INTO inbox (message_id, type, order_id) VALUES ($1, $2, $3)', [
      messageId,
      'order.confirmed',
      orderId,
    ]);
    const values = [orderId, JSON.stringify(lines)];
    await client.query('INSERT INTO "Shipments" ("OrderId", "Lines") VALUES ($1, $2)', values);
    await client.query('INSERT INTO parcels (order_id, lines) VALUES ($1, $2)', values);
    const source = createShadowSource({ url: 'http://127.0.0.1:1', databaseUrl });
    const served = await source.served([messageId, randomUUID()]);
    expect([...served]).toEqual([
      [messageId, { inbox: [{ type: 'order.confirmed', orderId }], shipments: [lines], parcels: [lines] }],
    ]);
  });

  it('is unknown without the database', async () => {
    const source = createShadowSource({ url: '', databaseUrl: 'postgres://missing@127.0.0.1:1/shipping' });
    await expect(source.served([randomUUID()])).rejects.toMatchObject({ why: { kind: 'evidence' } });
  });
});

describe('what a release would do', () => {
  it('is asked for from a number on, and is in no trace', async () => {
    const asked: (string | undefined)[] = [];
    const respond = ({ url, headers }: IncomingMessage) => {
      asked.push(url, headers.traceparent as string);
      return { status: 200, body: { outcomes: [{ number: 4 }] } };
    };
    await serving(respond, async (url) => {
      expect(await createShadowSource({ url, databaseUrl }).outcomesAfter(3)).toEqual([{ number: 4 }]);
    });
    expect(asked).toEqual(['/shadow/outcomes?after=3', expect.stringMatching(/-00$/)]);
  });

  it.each([
    [404, 'it is older than that'],
    [500, 'cannot be read: 500'],
  ])('is unknown where the response is %i', async (status, text) => {
    await serving(
      () => ({ status, body: {} }),
      async (url) => {
        await expect(createShadowSource({ url, databaseUrl }).outcomesAfter(0)).rejects.toMatchObject({
          why: { kind: 'evidence', text: expect.stringContaining(text) },
        });
      },
    );
  });
});
