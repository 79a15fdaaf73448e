import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceState } from '../platform/state.ts';
import { readClocks, syncClocks } from './clocks.ts';

/* Goal: a wrong clock is seen and ended by a restart. Method: a server whose Date header is what a test says. */

let server: Server;
let offsetMs: number;

beforeAll(async () => {
  server = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() + offsetMs).toUTCString());
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  offsetMs = 0;
});

function instance(changes: Partial<InstanceState> = {}): InstanceState {
  const { port } = server.address() as AddressInfo;
  return {
    name: 'payments-1',
    service: 'payments',
    kind: 'service',
    status: 'ready',
    process: { pid: 1, startTime: 1 } as never,
    ports: { main: port },
    restarts: 0,
    ...changes,
  };
}

describe('the clock of an instance', () => {
  it.each([
    [0, 'right'],
    [3_600_000, 'wrong'],
    [-3_600_000, 'wrong'],
  ])('that goes ahead by %d ms is %s', async (ms, state) => {
    offsetMs = ms;
    const [reading] = await readClocks([instance()]);
    expect(reading).toMatchObject({ name: 'payments-1', state });
    expect(Math.abs((reading?.offsetMs as number) - ms)).toBeLessThanOrEqual(2_000);
  });

  it('is unknown where it does not run or does not respond, and components are not asked', async () => {
    const { process: _, ...stopped } = instance({ name: 'stopped', status: 'stopped' });
    const readings = await readClocks([
      stopped,
      instance({ name: 'silent', ports: { main: 1 } }),
      instance({ name: 'postgres', kind: 'component' }),
    ]);
    expect(readings).toMatchObject([
      { name: 'stopped', state: 'unknown', offsetMs: null, why: 'stopped' },
      { name: 'silent', state: 'unknown', offsetMs: null },
    ]);
  });
});

describe('a wrong clock', () => {
  const keeper = (onRestart: () => void, story: string[] = []) => ({
    story,
    instances: () => [instance()],
    resetClock: (name: string) => void story.push(`reset ${name}`),
    restart: async (name: string) => {
      story.push(`restart ${name}`);
      onRestart();
    },
  });

  it("ends with a restart, after which the clock is this machine's", async () => {
    offsetMs = 3_600_000;
    const platform = keeper(() => {
      offsetMs = 0;
    });
    expect(await syncClocks(['payments-1'], platform)).toMatchObject([{ state: 'right' }]);
    expect(platform.story).toEqual(['reset payments-1', 'restart payments-1']);
  });

  it('that stays after a restart is reported', async () => {
    offsetMs = 3_600_000;
    await expect(
      syncClocks(
        ['payments-1'],
        keeper(() => undefined),
      ),
    ).rejects.toMatchObject({
      code: 'operation_ineffective',
      why: expect.stringContaining('payments-1'),
    });
  });
});
