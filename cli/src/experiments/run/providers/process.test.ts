import { expect, it } from 'vitest';
import type { ProcessProbe } from '../../format/schema.ts';
import { createFakeContext } from '../testing/fake-context.ts';
import { probeProcess } from './process.ts';

const two = ['orders-1', 'orders-2'].map((name) => ({ name, service: 'orders', status: 'ready', restarts: 0 }));
const look = (target: string) => {
  const provider = { type: 'process', target, field: 'restarts', since: 'start' };
  const { context } = createFakeContext({ instances: two, start: { restarts: { 'orders-1': 0, 'orders-2': 0 } } });
  return probeProcess({ name: 'p', type: 'probe', provider, tolerance: 0 } as unknown as ProcessProbe, context);
};

it('says how much memory was added since another step', async () => {
  const instances = [{ name: 'orders-1', service: 'orders', status: 'ready', rssBytes: 130, process: { pid: 1 } }];
  const look = (rss: Record<string, number>) => {
    const { context } = createFakeContext({ instances, start: { rss } });
    const provider = { type: 'process', target: 'orders', field: 'rss', since: 'start' };
    return probeProcess(
      { name: 'p', type: 'probe', provider, tolerance: { lte: 30 } } as unknown as ProcessProbe,
      context,
    );
  };
  expect(await look({ 'orders-1': 100 })).toMatchObject({ verdict: 'pass', observed: 'rss 30' });
  expect(await look({ 'orders-1': 99 })).toMatchObject({ verdict: 'fail', observed: 'rss 31' });
  expect(await look({})).toMatchObject({ verdict: 'unknown' });
});

it('looks at the process that is named', async () => {
  expect(await look('orders-2')).toMatchObject({ verdict: 'pass', observed: 'restarts 0' });
});

it('does not speak for all processes of a service by looking at its first', async () => {
  expect(await look('orders')).toMatchObject({
    verdict: 'unknown',
    observed: 'orders has 2 processes: name orders-1 or another one',
  });
});

it('does not know the CPU of a process that was not measured before', async () => {
  const cpuOf = (change: object) => {
    const instances = [{ name: 'orders-1', service: 'orders', status: 'ready', process: { pid: 1 }, ...change }];
    const { context } = createFakeContext({ instances });
    const provider = { type: 'process', target: 'orders', field: 'cpu' };
    return probeProcess(
      { name: 'p', type: 'probe', provider, tolerance: { lt: 50 } } as unknown as ProcessProbe,
      context,
    );
  };
  expect(await cpuOf({})).toMatchObject({ verdict: 'unknown', observed: 'orders-1 was not measured before' });
  expect(await cpuOf({ cpuPercent: 49 })).toMatchObject({ verdict: 'pass' });
});
