/*
 * Goal: what no service can say about itself is measured, also while services are stopped.
 * Method: a real platform, whose supervisor's metrics are read as Prometheus reads them.
 */
import { PROBE_PATH } from '@shop/kit/probe.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { place } from './support/client.ts';

const LIMIT = { timeout: 20_000, interval: 100 };

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-monitoring', env: { SHOPCTL_PROBE: 'on' } });
});
afterAll(() => platform?.stop());

/** The value of a series of the supervisor; undefined where it has none. */
async function readValue(name: string, queue?: string): Promise<number | undefined> {
  const text = await (await fetch(`${platform.telemetryUrl}/metrics`)).text();
  const own = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes('job="shopctl"'));
  const line = own.find((one) => queue === undefined || one.includes(`queue="${queue}"`));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

it('what the queue holds while shipping is stopped, and that it has no consumer', async () => {
  const messages = () => readValue('shop_queue_messages', 'shipping.order-confirmed');
  const consumers = () => readValue('shop_queue_consumers', 'shipping.order-confirmed');
  await expect.poll(consumers, LIMIT).toBe(1);
  await platform.shopctl('stop', 'shipping');
  await place(platform);
  await expect.poll(messages, LIMIT).toBe(1);
  expect(await consumers()).toBe(0);
  await platform.shopctl('start', 'shipping');
  await expect.poll(messages, LIMIT).toBe(0);
  await expect.poll(consumers, LIMIT).toBe(1);
});

it('that a stopped gateway serves no client; its probes leave no span and no line', async () => {
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(1);
  await platform.shopctl('stop', 'gateway');
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(0);
  await platform.shopctl('start', 'gateway');
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(1);
  expect(await readValue('shop_probe_duration_seconds_count')).toBeGreaterThan(2);
  // An order shows that requests of clients are traced and logged.
  await place(platform);
  const found = async () => {
    const query = 'query.service_name=gateway&query.search_depth=200';
    return (await fetch(`${platform.telemetryUrl}/api/v3/traces?${query}`)).text();
  };
  await expect.poll(found, LIMIT).toContain('/api/orders');
  expect(await found()).not.toContain(PROBE_PATH);
  const lines = (await platform.logs('gateway')).filter(({ msg }) => msg === 'request completed');
  expect(lines.map((line) => (line as unknown as { method: string }).method)).toEqual(['POST', 'POST']);
});
