import { expect, it } from 'vitest';
import { exitCodes } from '../exit-codes.ts';
import type { PlatformState } from '../platform/state.ts';
import type { PlatformAccess } from './platform-access.ts';
import { obstacleTo } from './preflight.ts';

const edge = {
  name: 'orders-payments',
  from: 'orders',
  to: 'payments',
  listen: '127.0.0.1:1',
  upstream: '127.0.0.1:1',
};

function aPlatform(state: Partial<PlatformState>): PlatformAccess {
  return {
    state: () => ({ edges: [], instances: [], ...state }),
    failpointDir: undefined,
  } as unknown as PlatformAccess;
}

const latency = { fault: 'latency', target: 'orders-payments', parameters: { latency: '1s' } };

it('a fault on an edge cannot be injected where the services are wired directly', async () => {
  expect(await obstacleTo(latency, aPlatform({ edges: [edge] }))).toMatchObject({
    exitCode: exitCodes.unavailable,
    why: 'the services are wired directly',
  });
});

it('a fault on an edge can be injected where there is a proxy', async () => {
  const platform = aPlatform({ edges: [edge], toxiproxyUrl: 'http://127.0.0.1:1' });
  expect(await obstacleTo(latency, platform)).toBeUndefined();
});

it('a fault on a rerouted edge is refused, also on the proxy of another replica: it would have no effect', async () => {
  const rerouted = { ...edge, name: 'orders-payments-2', via: 'standby' as const };
  const platform = aPlatform({ edges: [edge, rerouted], toxiproxyUrl: 'http://127.0.0.1:1' });
  expect(await obstacleTo({ ...latency, target: 'orders-payments-2' }, platform)).toMatchObject({
    code: 'edge_rerouted',
    exitCode: exitCodes.unavailable,
    next: 'run "shopctl reroute orders-payments --via primary" first',
  });
});

it('a failpoint cannot be armed in services without failpoints', async () => {
  const failpoint = { fault: 'failpoint', target: 'orders', parameters: { at: 'order-started:saved', action: 'kill' } };
  const instances = [{ name: 'orders-1', service: 'orders', kind: 'service' }] as unknown as PlatformState['instances'];
  expect(await obstacleTo(failpoint, aPlatform({ instances }))).toMatchObject({ exitCode: exitCodes.unavailable });
});

it('a fault cannot be aimed at what is not there', async () => {
  const other = { ...latency, target: 'orders-payment' };
  expect(await obstacleTo(other, aPlatform({ edges: [edge] }))).toMatchObject({ exitCode: exitCodes.usage });
});

it('a broker that does not respond now is not an obstacle', async () => {
  const platform = {
    ...aPlatform({}),
    async askBroker() {
      throw new Error('the broker does not respond');
    },
  };
  expect(await obstacleTo({ fault: 'disk-alarm', target: 'rabbitmq', parameters: {} }, platform)).toBeUndefined();
});
