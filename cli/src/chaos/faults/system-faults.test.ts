/*
 * Goal: the witnesses of faults of broker, starts, clocks and disks see nothing where nothing was injected, and what is
 * not available is refused before anything happens. Method: a platform whose broker and processes say what a test
 * wants.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InstanceState, PlatformState } from '../../platform/state.ts';
import type { StartConditions } from '../../platform/unit.ts';
import { identifyProcess, type ProcessIdentity } from '../../process/process-identity.ts';
import { bindingsOf } from '../broker-faults.ts';
import { findFault } from '../catalog.ts';
import { faketimeEnvironment } from '../libfaketime.ts';
import type { PlatformAccess } from '../platform-access.ts';

let server: Server;
let own: ProcessIdentity;
/** What the faults have asked for. */
let asked: string[];
let conditions: StartConditions | undefined;
/** Of responses; undefined: this machine's. */
let date: string | undefined;

beforeAll(async () => {
  server = createServer((_, response) => {
    if (date !== undefined) response.setHeader('date', date);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  own = (await identifyProcess(process.pid)) as ProcessIdentity;
});
afterAll(() => void server.close());

interface PlatformOptions {
  readonly broker?: string;
  readonly libfaketime?: string;
  readonly instance?: Partial<InstanceState>;
  readonly isLive?: boolean;
  /** Rows of every statement. */
  readonly rows?: readonly object[];
}

function aPlatform({
  broker = '',
  libfaketime,
  instance = {},
  isLive = true,
  rows = [],
}: PlatformOptions = {}): PlatformAccess {
  asked = [];
  conditions = undefined;
  const { port } = server.address() as AddressInfo;
  const payments = { name: 'payments-1', service: 'payments', status: 'ready', process: own, ports: { main: port } };
  const platform: Partial<PlatformAccess> = {
    isLive,
    state: () => ({ instances: [{ ...payments, ...instance }] }) as unknown as PlatformState,
    askBroker: async () => broker,
    query: async <Row extends object>() => rows as Row[],
    libfaketime: async () => libfaketime,
    act: async (name, action) => void asked.push(`${action} ${name}`),
    relaunch: async (name) => void asked.push(`relaunch ${name}`),
    changeConditions: (_, given) => {
      conditions = given;
    },
  };
  return platform as PlatformAccess;
}

/** One binding as the broker prints it. */
const bound = (...names: readonly string[]) =>
  `['${names.map((name) => Buffer.from(name).toString('base64')).join(',')}']`;

const injection = (target: string, parameters: object) => ({ id: 'x', target, parameters });

describe('a witness', () => {
  it('of unbind sees a queue that is bound, and sends no canary to it', async () => {
    const undo = { queue: 'shipping.order-confirmed', exchange: 'shop.events', routingKeys: ['order.confirmed'] };
    const platform = aPlatform({ broker: bound('shop.events', 'shipping.order-confirmed', 'order.confirmed') });
    const witness = await findFault('unbind').witness(injection('rabbitmq', {}), undo, platform);
    expect(witness).toEqual({
      verdict: 'not_observed',
      evidence: 'shipping.order-confirmed is bound by order.confirmed',
    });
  });

  it('of purge does not take an empty queue for a purged one', async () => {
    const undo = { queue: 'shipping.order-confirmed', messages: 0 };
    const witness = await findFault('purge').witness(injection('rabbitmq', {}), undo, aPlatform());
    expect(witness).toMatchObject({ verdict: 'not_observed' });
  });

  it('of term is observed when the process takes 4 s to end, as PostgreSQL does for a checkpoint', async () => {
    const child = spawn('sh', ['-c', 'trap "sleep 4; exit" TERM; echo ready; while :; do sleep 0.1; done'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await once(child.stdout, 'data');
      const process = (await identifyProcess(child.pid as number)) as ProcessIdentity;
      const victims = { target: 'payments', victims: [{ name: 'payments-1', process }] };
      await findFault('term').inject(injection('payments', {}), victims, aPlatform());
      const witness = await findFault('term').witness(injection('payments', {}), victims, aPlatform());
      expect(witness).toMatchObject({ verdict: 'observed' });
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('of slow-start is not observed while the old process runs', async () => {
    const victims = { target: 'payments', victims: [{ name: 'payments-1', process: own }] };
    const witness = await findFault('slow-start').witness(
      injection('payments', { delay: 1_000 }),
      victims,
      aPlatform(),
    );
    expect(witness).toEqual({ verdict: 'not_observed', evidence: 'payments is still running unchanged' });
  });

  it('of slow-start is not observed where the next process starts immediately', async () => {
    const ended = { ...own, pid: 2 ** 22 + 1 };
    const victims = { target: 'payments', victims: [{ name: 'payments-1', process: ended }] };
    const look = (platform: PlatformAccess) =>
      findFault('slow-start').witness(injection('payments', { delay: 1_000 }), victims, platform);
    expect(await look(aPlatform())).toMatchObject({
      verdict: 'not_observed',
      evidence: expect.stringContaining('1 had started'),
    });
    // A start that is not delayed takes a moment, in which nothing runs either.
    const [running, none] = [aPlatform(), aPlatform({ instance: { process: undefined as never } })];
    let looks = 0;
    const starts = { ...running, state: () => (++looks > 3 ? running : none).state() };
    expect(await look(starts)).toMatchObject({ verdict: 'not_observed' });
    const waits = aPlatform({ instance: { process: undefined as never } });
    expect(await look(waits)).toMatchObject({
      verdict: 'observed',
      evidence: expect.stringContaining('0 had started'),
    });
  });

  it('of clock is not observed where the clock is right', async () => {
    const victims = { target: 'payments', victims: [{ name: 'payments-1', process: own }] };
    const witness = await findFault('clock').witness(
      injection('payments', { offset: -3_600_000 }),
      victims,
      aPlatform(),
    );
    expect(witness).toMatchObject({ verdict: 'not_observed' });
  });
});

describe('a fault that was lost is not in place any more:', () => {
  const victims = { target: 'payments', victims: [] };
  const session = { id: 'x', database: 'orders' };
  const filled = { ...session, table: 'orders', madeAt: 'created_at', name: 'shopctl_full_x', path: tmpdir() };

  it.each<[string, string, object, PlatformOptions, PlatformOptions]>([
    ['disk-alarm', 'the broker was restarted', { before: '1' }, { broker: "'disk;'" }, { broker: "''" }],
    ['memory-alarm', 'another alarm is on', { before: '0.4' }, { broker: "'memory;'" }, { broker: "'disk;'" }],
    ['stop', 'a command started it', victims, { instance: { status: 'stopped' } }, { instance: { status: 'ready' } }],
    ['lock', 'its connection ended', session, { rows: [{ count: 1 }] }, { rows: [{ count: 0 }] }],
    ['hold-connections', 'one ended', { ...session, held: 3 }, { rows: [{ count: 3 }] }, { rows: [{ count: 2 }] }],
    ['read-only', 'the setting was reset', session, { rows: [{}] }, { rows: [] }],
    // What does not run will start with the configured clock.
    ['clock', 'it was started as usual', victims, { instance: { process: undefined as never } }, {}],
  ])('%s, where %s', async (name, _, undo, there, lost) => {
    expect(await findFault(name).isInPlace?.(undo, aPlatform(there))).toBe(true);
    expect(await findFault(name).isInPlace?.(undo, aPlatform(lost))).toBe(false);
  });

  it('fill, where its index or its file system is gone', async () => {
    expect(await findFault('fill').isInPlace?.(filled, aPlatform({ rows: [] }))).toBe(false);
    // This file system has room.
    expect(await findFault('fill').isInPlace?.(filled, aPlatform({ rows: [{}] }))).toBe(false);
  });
});

it('hold-connections takes the place that another connection leaves when the server is full', async () => {
  const places = 30;
  let held = 0;
  let others = 1;
  const open = async () => {
    if (held + others >= places) {
      // The other one ends between two attempts.
      setTimeout(() => {
        others = 0;
      }, 20);
      throw Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
    }
    held += 1;
    return undefined as never;
  };
  const platform: PlatformAccess = {
    ...aPlatform(),
    serviceDatabaseUrl: async () => 'postgres://catalog@localhost/catalog',
    sessions: { open, close: async () => undefined },
  };
  const undo = { id: 'x', database: 'catalog', application: 'x' };
  await findFault('hold-connections').inject(injection('catalog-db', { connections: 1_000 }), undo, platform);
  expect({ held, undo }).toEqual({ held: places, undo: { ...undo, held: places } });
});

describe('an undo', () => {
  it('of slow-start starts what still waits, and leaves alone what has come', async () => {
    const victims = { target: 'payments', victims: [] };
    await findFault('slow-start').undo(
      victims,
      aPlatform({ instance: { status: 'starting', process: undefined as never } }),
    );
    expect({ asked, conditions }).toEqual({ asked: ['relaunch payments'], conditions: { delayMs: undefined } });
    await findFault('slow-start').undo(victims, aPlatform());
    expect({ asked, conditions }).toEqual({ asked: [], conditions: { delayMs: undefined } });
  });

  it('of clock is not done before the clock is right', async () => {
    const victims = { target: 'payments', victims: [] };
    date = 'Mon, 01 Jan 2001 00:00:00 GMT';
    await findFault('clock').undo(victims, aPlatform());
    date = undefined;
    expect({ asked, conditions }).toEqual({
      asked: ['relaunch payments', 'start payments'],
      conditions: { env: undefined },
    });
    expect(await findFault('clock').verify(victims, aPlatform())).toContain('payments-1 is ready');
  });

  it('of clock restarts nothing that an operator has restarted with the right clock', async () => {
    await findFault('clock').undo({ target: 'payments', victims: [] }, aPlatform());
    expect({ asked, conditions }).toEqual({ asked: ['start payments'], conditions: { env: undefined } });
  });

  it('of clock restarts what does not respond', async () => {
    await findFault('clock').undo({ target: 'payments', victims: [] }, aPlatform({ instance: { ports: { main: 1 } } }));
    expect({ asked, conditions }).toEqual({
      asked: ['relaunch payments', 'start payments'],
      conditions: { env: undefined },
    });
  });

  it.each(['unbind', 'fill'])('of %s is left for the next start when nothing runs', async (name) => {
    const undo = { queue: 'q', exchange: 'e', routingKeys: [], database: 'orders', name: 'n', path: '/nowhere' };
    await expect(findFault(name).undo(undo, aPlatform({ isLive: false }))).rejects.toMatchObject({
      code: 'fault_not_reverted',
    });
  });

  it.each(['disk-alarm', 'memory-alarm', 'slow-start', 'clock'])(
    'of %s is nothing when all has ended',
    async (name) => {
      const fault = findFault(name);
      const undo = { before: '1', target: 'payments', victims: [] };
      await fault.undo(undo, aPlatform({ isLive: false }));
      expect(await fault.verify(undo, aPlatform({ isLive: false }))).toContain('ended');
      expect(asked).toEqual([]);
    },
  );
});

describe('before anything happens', () => {
  it('clock is refused without libfaketime, with how to get it', async () => {
    const preparing = findFault('clock').prepare(injection('payments', { offset: 60_000 }), aPlatform());
    await expect(preparing).rejects.toMatchObject({
      code: 'fault_unavailable',
      next: expect.stringContaining('libfaketime'),
    });
  });

  it('clock is refused when the offset could not be measured', async () => {
    const preparing = findFault('clock').prepare(
      injection('payments', { offset: -2_000 }),
      aPlatform({ libfaketime: '/lib' }),
    );
    await expect(preparing).rejects.toMatchObject({ code: 'invalid_fault', what: 'an offset of -2s is too small' });
  });

  it('an alarm is refused when its former limit has an unknown form', async () => {
    const platform = aPlatform({ broker: 'os:cmd("true")' });
    await expect(findFault('disk-alarm').prepare(injection('rabbitmq', {}), platform)).rejects.toThrow(/unknown form/);
  });

  it('unbind is refused when there is nothing to unbind', async () => {
    const preparing = findFault('unbind').prepare(injection('rabbitmq', {}), aPlatform({ broker: '[]' }));
    await expect(preparing).rejects.toMatchObject({ code: 'fault_unavailable' });
  });

  it('fill is refused for a service that adds no rows, without a platform', () => {
    const checking = () => findFault('fill').check?.(injection('catalog-db', {}));
    expect(checking).toThrow(expect.objectContaining({ code: 'unknown_fault_target' }));
  });
});

it('an empty routing key, a fanout’s, is a binding too', async () => {
  expect(
    await bindingsOf(
      'shipping.dead-letters',
      aPlatform({ broker: bound('shop.dead-letters', 'shipping.dead-letters', '') }),
    ),
  ).toEqual(['']);
  expect(await bindingsOf('shipping.dead-letters', aPlatform({ broker: bound('shop.events', 'other', '') }))).toEqual(
    [],
  );
});

it('libfaketime shifts wall clocks only', () => {
  expect(faketimeEnvironment('/lib/faketime.so', -5_400_000)).toMatchObject({
    LD_PRELOAD: '/lib/faketime.so',
    FAKETIME: '-5400',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  expect(faketimeEnvironment('/lib/faketime.so', 5_500)).toMatchObject({ FAKETIME: '+5.5' });
});
