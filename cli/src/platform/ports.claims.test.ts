import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createPortAllocator } from './ports.ts';

const claims = mkdtempSync(join(tmpdir(), 'ports-'));
afterAll(() => rmSync(claims, { recursive: true }));

it('two projects that want the same port before anybody listens get different ones', async () => {
  const [one, other] = [createPortAllocator({}, claims), createPortAllocator({}, claims)];
  const preferred = 20_500;
  const ports = await Promise.all([one.reserve('gateway-1', preferred), other.reserve('gateway-1', preferred)]);
  expect(new Set(ports).size).toBe(2);
});

it('a required port is taken or refused, and never replaced by another', async () => {
  const [one, other] = [createPortAllocator({ 'gateway-1': 20_710 }, claims), createPortAllocator({}, claims)];
  expect(await one.require('gateway-1', 20_700)).toBe(20_700);
  expect(await one.reserve('gateway-1', 20_720)).toBe(20_700);
  await expect(one.require('gateway-1', 20_730)).rejects.toMatchObject({ code: 'restart_required' });
  await expect(other.require('gateway-1', 20_700)).rejects.toMatchObject({
    what: 'port 20700 is taken',
    code: 'port_taken',
  });
});

it('a port is free for others once its project has released it', async () => {
  const one = createPortAllocator({}, claims);
  const port = await one.reserve('gateway-1', 20_600);
  await one.release();
  expect(await createPortAllocator({}, claims).reserve('gateway-1', port)).toBe(port);
});
