import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DRAINING_HEADER, drainServer } from './draining.ts';
import { edges } from './edges.ts';
import { createHealth } from './health.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { HttpReplica } from './http-replica.ts';
import { createLogger } from './logger.ts';
import type { Placed } from './replica-picker.ts';
import { type CallPolicy, createCallPolicy } from './resilience.ts';
import { createServer } from './server.ts';

const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });

async function aReplica(at = 0) {
  const health = createHealth({});
  const server = createServer({ logger, health });
  const asked: string[] = [];
  server.addHook('onRequest', async ({ url }) => void asked.push(url));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  server.get('/fast', async () => {
    await nextTurn();
    return {};
  });
  server.post('/orders', async () => {
    await nextTurn();
    return {};
  });
  server.get('/slow', async () => {
    await released;
    return {};
  });
  await server.listen({ host: '127.0.0.1', port: at });
  const { port } = server.server.address() as AddressInfo;
  let isDrained = false;
  return {
    port,
    server,
    asked,
    origin: `http://127.0.0.1:${port}`,
    release,
    drain: async () => {
      if (!isDrained) await drainServer(health, server);
      isDrained = true;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function connectionsOf({ server }: Awaited<ReturnType<typeof aReplica>>): Promise<number> {
  return new Promise((resolve) => server.server.getConnections((_, count) => resolve(count)));
}

async function get(port: number, path: string, agent: Agent | false = false) {
  const sent = request({ host: '127.0.0.1', port, path, agent }).end();
  const [response] = await once(sent, 'response');
  const body = await text(response);
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, body };
}

describe('a server that shuts down', () => {
  it('responds on kept and on new connections as before, is not ready, and says that each response is the last', async () => {
    await using replica = await aReplica();
    const agent = new Agent({ keepAlive: true });
    expect((await get(replica.port, '/fast', agent)).headers.connection).toBe('keep-alive');
    const drained = replica.drain();
    for (const kept of [agent, false] as const) {
      const { status, headers } = await get(replica.port, '/fast', kept);
      expect({ status, connection: headers.connection, draining: headers[DRAINING_HEADER] }).toEqual({
        status: 200,
        connection: 'close',
        draining: '1',
      });
    }
    expect((await get(replica.port, '/health/ready')).status).toBe(503);
    await drained;
    await expect(get(replica.port, '/fast')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    agent.destroy();
  });

  it('says so on a request that was in flight, and waits for its response', async () => {
    await using replica = await aReplica();
    const slow = get(replica.port, '/slow', new Agent({ keepAlive: true }));
    await expect.poll(() => replica.asked).toEqual(['/slow']);
    const drained = replica.drain();
    await expect.poll(() => replica.server.server.listening).toBe(false);
    replica.release();
    expect((await slow).headers).toMatchObject({ connection: 'close', [DRAINING_HEADER]: '1' });
    await drained;
  });

  it('closes in the same turn when nothing was asked of it lately', async () => {
    await using replica = await aReplica();
    const idle = connect(replica.port, '127.0.0.1');
    await once(idle, 'connect');
    await replica.server.lameDuck({ quietMs: 0, maxMs: 60_000 });
    const closed = once(idle, 'close');
    await replica.drain();
    await closed;
  });

  it('serves what had arrived before the end of the phase, also where it did not run meanwhile', async () => {
    await using replica = await aReplica();
    const [kept, unused] = [connect(replica.port, '127.0.0.1'), connect(replica.port, '127.0.0.1')];
    const responses = [kept, unused].map((socket) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      socket.once('error', reject).once('close', () => resolve(received));
      return promise;
    });
    const ask = 'POST /orders HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';
    kept.write(ask);
    await once(kept, 'data');
    await expect.poll(() => connectionsOf(replica)).toBe(2);
    const over = replica.server.lameDuck({ quietMs: 10, maxMs: 20 });
    for (const socket of [kept, unused]) socket.write(ask);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await over;
    await replica.server.close();
    const statuses = (await Promise.all(responses)).map((text) => text.match(/HTTP\/1\.1 \d+/g));
    expect(statuses).toEqual([['HTTP/1.1 200', 'HTTP/1.1 200'], ['HTTP/1.1 200']]);
  });

  it('waits longer for the first request of a connection than for a further one', async () => {
    await using replica = await aReplica();
    const unused = connect(replica.port, '127.0.0.1');
    await expect.poll(() => connectionsOf(replica)).toBe(1);
    let isOver = false;
    const over = replica.server.lameDuck({ quietMs: 0, unusedMs: 60_000, maxMs: 60_000 }).then(() => {
      isOver = true;
    });
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(isOver).toBe(false);
    unused.write('GET /fast HTTP/1.1\r\nhost: test\r\n\r\n');
    expect(String(await once(unused, 'data'))).toMatch(/^HTTP\/1\.1 200/);
    await over;
    unused.destroy();
  });

  it('closes after its longest lame-duck phase although requests keep coming', async () => {
    await using replica = await aReplica();
    let isOver = false;
    await get(replica.port, '/fast');
    const asking = (async () => {
      while (!isOver) await get(replica.port, '/fast').catch(() => undefined);
    })();
    await replica.server.lameDuck({ quietMs: 60_000, maxMs: 100 });
    isOver = true;
    await asking;
  });
});

it.each([
  ['first, where another process serves it', true, ['leave', 'lame duck', 'close']],
  ['last, where none does', false, ['lame duck', 'leave', 'close']],
] as const)('a shared port is left %s', async (_, hasSuccessor, expected) => {
  const done: string[] = [];
  const note = (what: string) => async () => void done.push(what);
  const server = { lameDuck: note('lame duck'), close: note('close') } as unknown as Parameters<typeof drainServer>[1];
  await drainServer(createHealth({}), server, { shared: { leave: note('leave') }, hasSuccessor });
  expect(done).toEqual(expected);
});

/** One attempt of what must not be repeated. */
function place(client: HttpClient, policy: CallPolicy<HttpReplica>) {
  return policy.execute({ idempotent: false }, (attempt) =>
    client.send({ method: 'POST', path: '/orders', body: {} }, attempt),
  );
}

it('is left by a client of ours with its next response: also by the connections that are idle', async () => {
  await using replica = await aReplica();
  await using client = createHttpClient('test', [replica.origin]);
  using policy = createCallPolicy('test', edges['orders-payments'], logger, client.replicas);
  const order = () => place(client, policy);
  const connections = () => connectionsOf(replica);
  await Promise.all([order(), order(), order()]);
  expect(await connections()).toBe(3);
  await replica.server.lameDuck({ quietMs: 0, maxMs: 0 });
  expect((await order()).status).toBe(200);
  await expect.poll(connections).toBe(0);
});

it('is avoided by a client of ours until a probe finds another process in its place', async () => {
  const leaving = await aReplica();
  await using client = createHttpClient('test', [leaving.origin]);
  using policy = createCallPolicy('test', edges['orders-payments'], logger, client.replicas);
  const { replica } = client.replicas.all[0] as Placed<HttpReplica>;
  const probe = () => replica.check(AbortSignal.timeout(5_000)).then(() => replica.isDraining);
  await leaving.server.lameDuck({ quietMs: 0, maxMs: 0 });
  await place(client, policy);
  expect(await probe()).toBe(true);
  await leaving.server.close();
  await expect(probe()).rejects.toThrow();
  expect(replica.isDraining).toBe(true);
  await using _ = await aReplica(leaving.port);
  expect(await probe()).toBe(false);
});

describe('a client of two replicas', () => {
  it('loses no request, whatever its method, while one of them is replaced again and again', {
    timeout: 60_000,
  }, async () => {
    const staying = await aReplica();
    let leaving = await aReplica();
    const { port } = leaving;
    await using client = createHttpClient('test', [staying.origin, leaving.origin]);
    let isOver = false;
    const failures: unknown[] = [];
    using policy = createCallPolicy('test', edges['orders-payments'], logger, client.replicas);
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        await place(client, policy).catch((error: Error) => failures.push(error));
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const { asked } = leaving;
      // A replica that left is avoided until a probe finds it again.
      await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(50);
      await leaving.drain();
      leaving = await aReplica(port);
    }
    isOver = true;
    await Promise.all(callers);
    await Promise.all([staying, leaving].map((replica) => replica.server.close()));
    expect(failures).toEqual([]);
  });
});
