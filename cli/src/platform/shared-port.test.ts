import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BoundSocket, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Running } from '../process/running.ts';
import type { ServiceInstance, ServiceSource } from './service-runtime.ts';
import { createSharedPorts, type SharedPortPlace } from './shared-port.ts';

/** A port that is free now. */
function freePort(): number {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  return socket.address().port;
}

const planned: ServiceInstance = { name: 'gateway-1', env: { PORT: '20940' }, logFile: '/dev/null' };

/** Starts that end when they are asked to; what each was given is kept. */
function aSource() {
  const starts: { readonly instance: ServiceInstance; end(): void }[] = [];
  const source: ServiceSource = {
    version: '1',
    async start(instance): Promise<Running> {
      const { promise: ended, resolve } = Promise.withResolvers<string>();
      starts.push({ instance, end: () => resolve('exit code 0') });
      return { ended, stop: async () => undefined };
    },
  };
  return { source, starts };
}

const gateway: SharedPortPlace = {
  instance: 'gateway-1',
  port: 20_940,
  own: [20_941, 20_942],
  ownVariable: 'INSTANCE_PORT',
  withoutProcess: 'wait',
};

it('gives a process the separate port that its predecessor does not have', async () => {
  const ports = createSharedPorts('127.0.0.1');
  const { source, starts } = aSource();
  const health = () => starts.map(({ instance }) => instance.env.INSTANCE_PORT);
  const before = ports.replica(gateway);
  await before.start(source, planned, {});
  const after = ports.replica(gateway);
  await after.start(source, planned, {});
  expect(health()).toEqual(['20941', '20942']);
  expect([before.ports(), after.ports()]).toEqual([
    { main: 20_940, health: 20_941 },
    { main: 20_940, health: 20_942 },
  ]);
  await expect(after.start(source, planned, {})).rejects.toThrow('gateway-1 has 2 processes already');
  starts[0]?.end();
  await expect.poll(() => after.start(source, planned, {})).toBeDefined();
  expect(health()).toEqual(['20941', '20942', '20941']);
});

it('gives it in the variable that its service reads', async () => {
  const { source, starts } = aSource();
  await createSharedPorts('127.0.0.1')
    .replica({ ...gateway, ownVariable: 'HEALTH_PORT' })
    .start(source, planned, {});
  expect(starts[0]?.instance.env).toEqual({ PORT: '20940', HEALTH_PORT: '20941' });
});

it('gives the port back of a process that could not be started', async () => {
  const replica = createSharedPorts('127.0.0.1').replica(gateway);
  const broken: ServiceSource = { version: '1', start: () => Promise.reject(new Error('no such file')) };
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(replica.start(broken, planned, {})).rejects.toThrow('no such file');
  }
});

it('keeps the socket while one replica is kept running', async () => {
  const ports = createSharedPorts('127.0.0.1');
  const { source, starts } = aSource();
  const one = ports.replica(gateway);
  const other = ports.replica({ ...gateway, instance: 'gateway-2', own: [20_943, 20_944] });
  await one.start(source, planned, {});
  await other.start(source, { ...planned, name: 'gateway-2' }, {});
  const [first, second] = starts.map(({ instance }) => instance.front?.descriptor());
  expect(first).toBe(second);
  one.leave();
  expect(starts[1]?.instance.front?.descriptor()).toBe(first);
  other.leave();
});

/** Processes that listen on what they inherit. */
function listeners() {
  const children: ChildProcess[] = [];
  const source: ServiceSource = {
    version: '1',
    async start({ front }): Promise<Running> {
      const listen = "require('node:net').createServer().listen({ fd: 3 }, () => console.log('listens'))";
      const child = spawn(process.execPath, ['-e', listen], {
        stdio: ['ignore', 'pipe', 'inherit', front?.descriptor()],
      });
      children.push(child);
      await once(child.stdout as Readable, 'data');
      return { ended: once(child, 'exit').then(() => 'killed'), stop: async () => undefined };
    },
  };
  return { source, children };
}

/** How a connection to the port goes. */
async function connecting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const outcome = await once(socket, 'connect').then(
    () => 'connected',
    (error: NodeJS.ErrnoException) => String(error.code),
  );
  socket.destroy();
  return outcome;
}

it.each([
  ['connected', 'wait'],
  ['ECONNREFUSED', 'refused'],
] as const)('a client is %s after a crash where connections are to be: %s', async (expected, withoutProcess) => {
  const { source, children } = listeners();
  const port = freePort();
  const replica = createSharedPorts('127.0.0.1').replica({ ...gateway, port, withoutProcess });
  const { ended } = await replica.start(source, planned, {});
  expect(await connecting(port)).toBe('connected');
  children[0]?.kill('SIGKILL');
  await ended;
  expect(await connecting(port)).toBe(expected);
  // The next process has the port again.
  await replica.start(source, planned, {});
  expect(await connecting(port)).toBe('connected');
  replica.leave();
  children[1]?.kill('SIGKILL');
  await once(children[1] as ChildProcess, 'exit');
  expect(await connecting(port)).toBe('ECONNREFUSED');
});

it('a client reaches the successor where the process before crashes', async () => {
  const { source, children } = listeners();
  const port = freePort();
  const ports = createSharedPorts('127.0.0.1');
  const [before, after] = [1, 2].map(() => ports.replica({ ...gateway, port, withoutProcess: 'refused' }));
  const first = await before?.start(source, planned, {});
  await after?.start(source, planned, {});
  children[0]?.kill('SIGKILL');
  await first?.ended;
  expect(await connecting(port)).toBe('connected');
  after?.leave();
  children[1]?.kill('SIGKILL');
  await once(children[1] as ChildProcess, 'exit');
});
