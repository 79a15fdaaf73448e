import { expect, it } from 'vitest';
import type { Running } from '../process/running.ts';
import type { ServiceInstance, ServiceSource } from './service-runtime.ts';
import { createSharedPorts } from './shared-port.ts';

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

it('gives a process the separate port that its predecessor does not have', async () => {
  const ports = createSharedPorts('127.0.0.1');
  const { source, starts } = aSource();
  const health = () => starts.map(({ instance }) => instance.env.INSTANCE_PORT);
  const before = ports.replica('gateway-1', 20_940, [20_941, 20_942]);
  await before.start(source, planned, {});
  const after = ports.replica('gateway-1', 20_940, [20_941, 20_942]);
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

it('gives the port back of a process that could not be started', async () => {
  const replica = createSharedPorts('127.0.0.1').replica('gateway-1', 20_940, [20_941, 20_942]);
  const broken: ServiceSource = { version: '1', start: () => Promise.reject(new Error('no such file')) };
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(replica.start(broken, planned, {})).rejects.toThrow('no such file');
  }
});

it('keeps the socket while one replica is kept running', async () => {
  const ports = createSharedPorts('127.0.0.1');
  const { source, starts } = aSource();
  const [one, other] = ['gateway-1', 'gateway-2'].map((name, index) =>
    ports.replica(name, 20_940, [20_941 + 2 * index, 20_942 + 2 * index]),
  );
  await one?.start(source, planned, {});
  await other?.start(source, { ...planned, name: 'gateway-2' }, {});
  const [first, second] = starts.map(({ instance }) => instance.front?.descriptor());
  expect(first).toBe(second);
  one?.leave();
  expect(starts[1]?.instance.front?.descriptor()).toBe(first);
  other?.leave();
});
