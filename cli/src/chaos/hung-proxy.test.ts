import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEventLog } from '../platform/events.ts';
import type { PlatformState } from '../platform/state.ts';
import { restartHungProxy } from './hung-proxy.ts';

/** The system accepts connections, and nothing is ever read from them: a Toxiproxy in state T. */
let frozen: Server;
beforeEach(async () => {
  frozen = createServer({ pauseOnConnect: true });
  frozen.listen(0, '127.0.0.1');
  await once(frozen, 'listening');
});
afterEach(() => void frozen.close());

function aSupervisor(faults: readonly { target: string }[]) {
  const events = createEventLog();
  const acts: string[] = [];
  const toxiproxyUrl = `http://127.0.0.1:${(frozen.address() as AddressInfo).port}`;
  restartHungProxy(
    {
      state: () => ({ toxiproxyUrl }) as PlatformState,
      act: async (service, action) => void acts.push(`${action} ${service}`),
      events,
    },
    () => faults,
  );
  return { events, acts };
}

it('a Toxiproxy that hangs without a fault is restarted: orders pass again although it was not woken', async () => {
  const { events, acts } = aSupervisor([{ target: 'orders-db' }]);
  events.add('instance.unready', 'toxiproxy', 'no response in 2000 ms');
  await expect.poll(() => acts, { timeout: 10_000 }).toEqual(['restart toxiproxy']);
});

it('one on which a fault is active stays as the fault has it', async () => {
  const { events, acts } = aSupervisor([{ target: 'toxiproxy' }]);
  const other = aSupervisor([]);
  events.add('instance.unready', 'toxiproxy', 'no response in 2000 ms');
  // Began later, so that its restart comes later.
  other.events.add('instance.unready', 'toxiproxy', 'no response in 2000 ms');
  await expect.poll(() => other.acts, { timeout: 10_000 }).toEqual(['restart toxiproxy']);
  expect(acts).toEqual([]);
});
