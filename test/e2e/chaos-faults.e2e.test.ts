/*
 * Goal: every fault is measurably in effect, ends automatically, and outlives neither the command that holds it nor the
 * supervisor. The shop then works as before.
 * Method: a real platform and the built `shopctl`. The holding command and the supervisor are killed (SIGKILL) while
 * faults of each kind are in effect. What is left is read from the platform, from Toxiproxy and from the undo file.
 */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '../../cli/src/chaos/lease.ts';
import { createToxiproxyClient } from '../../cli/src/chaos/toxiproxy-client.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { faultsOfComponents } from './suites/faults-of-components.ts';
import type { Words } from './support/chaos.ts';
import * as chaos from './support/chaos.ts';
import { place } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { findImbalances, untilDrained } from './support/ledger.ts';
import { libfaketimeEnv } from './support/libfaketime.ts';

/** A fault is gone this long after its holder, in ms; what must start again takes its own start longer. */
const REVERTED_MS = 5_000;
const STARTED_MS = 20_000;

let platform: TestPlatform;
const children: ChildProcess[] = [];

beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-chaos', env: { SHOPCTL_FAILPOINTS: '1', ...libfaketimeEnv } });
});
afterAll(() => platform?.stop());
afterEach(async ({ task }) => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await chaos.recoverFrom(task, platform);
});

const inject = (words: Words) => chaos.inject(platform, words);
const activeFaults = () => chaos.activeFaults(platform);
const expectClean = () => chaos.expectClean(platform);

/** Ids that the command itself shows. */
async function shownByStatus(): Promise<readonly string[]> {
  const { stdout, stderr } = await platform.shopctl('chaos', 'status', '--json');
  expect(stdout, stderr).not.toBe('');
  return (JSON.parse(stdout) as { faults: Lease[] }).faults.map(({ id }) => id);
}

async function hold(words: Words): Promise<chaos.Holder> {
  const holder = await chaos.hold(platform, words);
  children.push(holder.child);
  return holder;
}

const toxics: readonly Words[] = [
  ['orders-payments', 'latency', '--latency', '700ms', '--jitter', '100ms'],
  ['orders-payments', 'latency', '--latency', '700ms', '--stream', 'upstream'],
  ['orders-stock', 'latency', '--latency', '300ms', '--toxicity', '0.5'],
  ['orders-payments', 'bandwidth', '--rate', '20'],
  ['orders-payments', 'slow_close', '--delay', '500ms'],
  ['orders-payments', 'timeout', '--timeout', '0ms'],
  ['orders-stock', 'timeout', '--timeout', '100ms'],
  ['orders-payments', 'reset_peer', '--timeout', '0ms'],
  ['orders-broker', 'slicer', '--average-size', '30', '--delay', '20ms'],
  ['payments-db', 'limit_data', '--bytes', '20'],
  ['orders-catalog', 'down'],
];

const databaseFaults: readonly Words[] = [
  ['orders-db', 'lock'],
  ['payments-db', 'read-only'],
  ['orders-db', 'hold-connections', '--connections', '10'],
];

const lasting: readonly Words[] = [
  ['payments', 'pause'],
  ['rabbitmq', 'pause'],
  ['payments', 'stop'],
  ...databaseFaults,
];

describe('a detached fault', () => {
  it.each([...toxics, ...lasting])('%s %s is in effect, is cleared, and nothing is left', async (...words) => {
    const { code, lease } = await inject(words as unknown as Words);
    expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
    expect(code).toBe(0);
    expect((await platform.shopctl('status')).stdout).toContain(`${words[0]} ${words[1]}`);
    expect(await platform.shopctl('chaos', 'clear', lease.id)).toMatchObject({ code: 0 });
    await expectClean();
  });

  it.each([
    ['payments', 'kill'],
    ['stock-1', 'term'],
    ['postgres', 'term'],
    ['catalog', 'restart'],
    ['payments-db', 'terminate'],
  ] as const)('%s %s happens once and the shop has recovered when the command ends', async (...words) => {
    const { code, lease } = await inject(words);
    expect(lease).toMatchObject({ status: 'reverted', witness: { verdict: 'observed' } });
    expect(code).toBe(0);
    await expectClean();
  });

  it('ends when its time to live expires', async () => {
    await inject(['orders-payments', 'latency', '--latency', '200ms', '--ttl', '1s']);
    await eventually('it to end', { withinMs: REVERTED_MS }, async () => (await activeFaults()).length === 0);
    await expectClean();
  });

  it('is a failpoint that waits for its hit, and then was seen', async () => {
    const { lease } = await inject([
      'orders',
      'failpoint',
      '--at',
      'stock-reserved:saved',
      '--action',
      'delay',
      '--delay',
      '100ms',
    ]);
    expect(lease.witness).toMatchObject({ verdict: 'pending' });
    await place(platform);
    await eventually('the hit', { withinMs: REVERTED_MS }, async () => {
      return (await activeFaults())[0]?.witness?.verdict === 'observed';
    });
    await platform.shopctl('chaos', 'clear', '--all');
    await expectClean();
  });

  it.each([
    [['orders-payments', 'latncy'], 'did you mean \\"latency\\"'],
    [['orders-paymnts', 'down'], 'did you mean \\"orders-payments\\"'],
    [['orders-payments', 'bandwidth', '--rate', '-1'], 'expected a whole number, 0 or more'],
    [['orders-payments', 'bandwidth', '--rate', '0'], 'rate must be >= 1'],
    [['orders-payments', 'timeout'], 'timeout is required'],
  ])('%j is refused before anything happens', async (words, why) => {
    const { code, stderr } = await platform.shopctl('chaos', 'inject', ...words, '--json');
    expect(stderr).toContain(why);
    expect(code).toBe(2);
    await expectClean();
  });
});

describe('our client of Toxiproxy', () => {
  it('reads the toxics it adds, is idempotent, and keeps status and message of the server', async () => {
    const { toxiproxyUrl } = await platform.state();
    const client = createToxiproxyClient(toxiproxyUrl as string);
    const toxic = {
      type: 'latency',
      name: 'slow',
      stream: 'downstream',
      toxicity: 1,
      attributes: { latency: 5, jitter: 0 },
    } as const;
    await client.addToxic('orders-stock', toxic);
    expect((await client.proxy('orders-stock')).toxics).toEqual([toxic]);
    expect((await client.proxies()).find(({ name }) => name === 'orders-stock')?.toxics).toEqual([toxic]);
    for (const isEnabled of [false, false, true, true]) {
      await client.setEnabled('orders-stock', isEnabled);
      expect(await client.proxy('orders-stock')).toMatchObject({ enabled: isEnabled, toxics: [toxic] });
    }
    await client.removeToxic('orders-stock', 'slow');
    await client.removeToxic('orders-stock', 'slow');
    await expect(client.proxy('unknown-id')).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('not found'),
    });
    await expectClean();
  });
});

describe('a Toxiproxy that hangs', () => {
  it('is restarted to take a toxic back, and keeps what else was injected', { timeout: 90_000 }, async () => {
    const { lease: slow } = await inject(['orders-payments', 'latency', '--latency', '300ms']);
    const { lease: down } = await inject(['orders-stock', 'down']);
    const { lease: frozen } = await inject(['toxiproxy', 'pause']);
    expect(await platform.shopctl('chaos', 'clear', slow.id)).toMatchObject({ code: 0 });
    expect((await activeFaults()).map(({ id }) => id).sort()).toEqual([down.id, frozen.id].sort());
    const { toxiproxyUrl } = await platform.state();
    const client = createToxiproxyClient(toxiproxyUrl as string);
    await eventually('what else was injected to be back', { withinMs: REVERTED_MS }, async () => {
      return !(await client.proxy('orders-stock')).enabled;
    });
    expect((await client.proxy('orders-payments')).toxics).toEqual([]);
    expect(await platform.shopctl('chaos', 'clear', '--all')).toMatchObject({ code: 0 });
    await expectClean();
  });
});

describe('the command that holds a fault', () => {
  const more: readonly Words[] = [
    ['orders-stock', 'partition'],
    ['postgres', 'pause'],
    ['orders', 'failpoint', '--at', 'stock-reserved:unsaved', '--action', 'kill'],
  ];
  const held = [...new Map([...toxics, ...lasting, ...more].map((words) => [words[1], words])).values()];

  it.each(held)('is killed while %s %s is in effect: reverted within 5 s', async (...words) => {
    const { child, lease } = await hold(words as unknown as Words);
    expect(lease.isHeld).toBe(true);
    child.kill('SIGKILL');
    await eventually('it to be reverted', { withinMs: REVERTED_MS, seen: activeFaults }, async () => {
      return (await activeFaults()).length === 0;
    });
    await expectClean();
  });

  it('was killed under each kind of fault, and verify holds', async () => {
    expect(await platform.shopctl('verify')).toMatchObject({ code: 0 });
  });

  it('is interrupted by Ctrl-C: it waits until the fault is gone and ends with 130, and status shows both', async () => {
    const { child, lease, ended } = await hold(['orders-payments', 'latency', '--latency', '300ms']);
    expect(await shownByStatus()).toEqual([lease.id]);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(await shownByStatus()).toEqual([]);
    await expectClean();
  });
});

describe('the supervisor is killed while faults of each kind are in effect', () => {
  it('the next command names them and changes nothing; after clear --all the shop works', {
    timeout: 180_000,
  }, async () => {
    const all: readonly Words[] = [
      ['orders-payments', 'latency', '--latency', '300ms'],
      ['orders-stock', 'down'],
      ['payments-db', 'lock'],
      ['orders-db', 'hold-connections', '--connections', '5'],
      ['orders', 'failpoint', '--at', 'stock-reserved:unsaved', '--action', 'kill'],
      ['shipping', 'stop'],
      ['postgres', 'pause'],
    ];
    for (const words of all) expect(await inject(words)).toMatchObject({ code: 0 });
    process.kill((await platform.state()).supervisor.pid, 'SIGKILL');
    for (const command of [['up', '--no-build'], ['order'], ['verify'], ['chaos', 'status']]) {
      const { code, stderr } = await platform.shopctl(...command);
      expect({ command, code }).toEqual({ command, code: 6 });
      for (const [target, fault] of all) expect(stderr).toContain(`${fault} on ${target}`);
      expect(stderr).toContain('shopctl chaos clear --all');
    }
    const cleared = await platform.shopctl('chaos', 'clear', '--all', '--json');
    expect(cleared).toMatchObject({ code: 0 });
    expect((JSON.parse(cleared.stdout) as { reverted: Lease[] }).reverted.map(({ fault }) => fault)).toEqual(
      [...all].reverse().map(([, fault]) => fault),
    );
    expect(await platform.shopctl('chaos', 'clear', '--all')).toMatchObject({ code: 0 });
    expect(await platform.shopctl('up', '--no-build')).toMatchObject({ code: 0 });
    await expectClean();
    await untilDrained(platform, STARTED_MS);
    expect(await findImbalances(platform)).toEqual([]);
  });
});

describe('what is kept in the data', () => {
  it('stays after clear --all when the supervisor was killed, and is reverted by up', { timeout: 90_000 }, async () => {
    expect(await inject(['payments-db', 'read-only'])).toMatchObject({ code: 0 });
    process.kill((await platform.state()).supervisor.pid, 'SIGKILL');
    const { code, stdout } = await platform.shopctl('chaos', 'clear', '--all');
    expect(stdout).toContain('payments-db read-only: PostgreSQL is not running');
    expect(code).toBe(6);
    expect(await platform.shopctl('up', '--no-build')).toMatchObject({ code: 0 });
    await expectClean();
  });
});

describe('a component', () => faultsOfComponents(() => platform));

describe('shopctl down', () => {
  it('takes everything back before the platform ends', async () => {
    await inject(['orders-payments', 'latency', '--latency', '300ms']);
    await inject(['postgres', 'pause']);
    await inject(['shipping', 'stop']);
    expect(await platform.shopctl('down')).toMatchObject({ code: 0 });
    expect(await readFile(join(platform.project.stateDir, 'chaos', 'undo.jsonl'), 'utf8')).toBe('');
    expect((await platform.shopctl('chaos', 'status')).code).toBe(4);
  });
});
