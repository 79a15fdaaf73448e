import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { BoundSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { moduleAt, type Program, startProgram } from '../../test/support/program.ts';

/** A port that is free now, or its socket. */
const bind = () => new BoundSocket({ host: '127.0.0.1' });

function freePort(): number {
  using socket = bind();
  return socket.address().port;
}

/** A replica of a service that responds with its process; SIGTERM drains it. */
function aReplica(shared: Readonly<Record<string, unknown>>, inherits: readonly number[] = []): Program {
  const config = { HOST: '127.0.0.1', INSTANCE_PORT: freePort(), ...shared };
  return startProgram(
    `
    import { drainServer } from ${moduleAt('kit/src/draining.ts')};
    import { createHealth } from ${moduleAt('kit/src/health.ts')};
    import { createLogger } from ${moduleAt('kit/src/logger.ts')};
    import { createServer } from ${moduleAt('kit/src/server.ts')};
    import { listenShared } from ${moduleAt('kit/src/shared-port.ts')};
    const health = createHealth({});
    const server = createServer({ health, logger: createLogger({ service: 'test', instance: 'test-1', level: 'silent' }) });
    server.post('/orders', async () => ({ pid: process.pid }));
    const config = ${JSON.stringify(config)};
    const shared = await listenShared(server, config);
    console.log(JSON.stringify({ pid: process.pid, health: config.INSTANCE_PORT }));
    process.once('SIGTERM', () => drainServer(health, server, { shared }));
    `,
    { inherits },
  );
}

async function ready(replica: Program): Promise<{ readonly pid: number; readonly health: number }> {
  await expect.poll(() => replica.records(), { timeout: 20_000 }).toHaveLength(1);
  return replica.records()[0] as { pid: number; health: number };
}

/** The process that responds. */
async function order(port: number, agent: Agent | false = false): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, path: '/orders', method: 'POST', agent, headers }).end('{}');
  const [response] = await once(sent, 'response');
  return (JSON.parse(await text(response)) as { pid: number }).pid;
}

/** Orders one after another for each of eight clients, half of them on kept connections, until `work` is done. */
async function failuresDuring(port: number, work: () => Promise<void>): Promise<readonly unknown[]> {
  const kept = new Agent({ keepAlive: true });
  const failures: unknown[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async (_, index) => {
    while (!isOver) {
      await order(port, index % 2 === 0 && kept).catch((error: Error) => failures.push(error));
      await nextTurn();
    }
  });
  await work();
  isOver = true;
  await Promise.all(clients);
  kept.destroy();
  return failures;
}

describe('replicas that inherit one socket', () => {
  it('replace one another without a failed request, on kept and on new connections', { timeout: 60_000 }, async () => {
    using socket = bind();
    const { port } = socket.address();
    const start = () => aReplica({ PORT: port, LISTEN_FD: 3 }, [socket.fd()]);
    let replica = start();
    await ready(replica);
    const failures = await failuresDuring(port, async () => {
      for (let round = 0; round < 2; round += 1) {
        const successor = start();
        await ready(successor);
        await replica[Symbol.asyncDispose]();
        expect(await replica.ended).toEqual({ code: 0, errors: '' });
        replica = successor;
      }
    });
    await replica[Symbol.asyncDispose]();
    expect(failures).toEqual([]);
  });

  it('are each reached on their own port, and a connection waits while none of them runs', {
    timeout: 60_000,
  }, async () => {
    using socket = bind();
    const { port } = socket.address();
    const start = () => aReplica({ PORT: port, LISTEN_FD: 3 }, [socket.fd()]);
    const replicas = [start(), start()];
    const both = await Promise.all(replicas.map(ready));
    expect(await Promise.all(both.map(({ health }) => order(health)))).toEqual(both.map(({ pid }) => pid));
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
    const kept = new Agent({ keepAlive: true });
    const waiting = order(port, kept);
    const last = start();
    expect(await waiting).toBe((await ready(last)).pid);
    // Also a connection that was there first is closed at the end, and does not hold the process.
    await last[Symbol.asyncDispose]();
    expect(await last.ended).toEqual({ code: 0, errors: '' });
    kept.destroy();
  });
});

it('replicas that bind the port each for itself share it', { timeout: 60_000 }, async () => {
  const port = freePort();
  await using one = aReplica({ PORT: port, REUSE_PORT: '1' });
  await using other = aReplica({ PORT: port, REUSE_PORT: '1' });
  const pids = (await Promise.all([one, other].map(ready))).map(({ pid }) => pid);
  const seen = new Set<number>();
  // The kernel chooses by the client's port.
  await expect.poll(async () => seen.add(await order(port)).size, { timeout: 20_000 }).toBe(2);
  expect([...seen].toSorted()).toEqual(pids.toSorted());
});

it('a service without an instance port listens on its one port', { timeout: 60_000 }, async () => {
  const port = freePort();
  await using replica = aReplica({ PORT: port, INSTANCE_PORT: undefined });
  const { pid } = await ready(replica);
  expect(await order(port)).toBe(pid);
});
