// Goal: a service can be debugged: it waits for a debugger, which stops it at a line of its source and lets it go on.
// Method: the built `shopctl` as its users run it, and a client of the inspector protocol as editors have one.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import type { InstanceState, PlatformState } from '../../cli/src/platform/state.ts';
import { openShell, type Shell } from './support/cli-run.ts';
import { place } from './support/client.ts';
import { attach, type Debugger, positionOf } from './support/debugger.ts';
import { eventually } from './support/eventually.ts';

const PROJECT = ['--project', 'debugging'];
const START_MS = 240_000;
const PAUSE_MS = 20_000;

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
});
afterAll(() => shell.remove());

interface Up {
  readonly gatewayUrl: string;
  readonly endpoints: readonly InstanceState[];
}

/** What `status --json` prints, without a process for each look. */
const state = (): Promise<PlatformState> => createControlClient(shell.project('debugging')).state();
const orders = async () => (await state()).instances.filter(({ service }) => service === 'orders');

it('a service waits for a debugger, stops at a breakpoint that an order reaches, and goes on', {
  timeout: 420_000,
}, async () => {
  const up = shell.start(
    ...['up', 'gateway', '--direct', '--replicas', 'orders=2', '--inspect', 'orders', '--wait-timeout', '1', '--json'],
    ...PROJECT,
  );
  const { child } = up;
  const seen = async () => (await shell.run('status', ...PROJECT)).stderr;
  const waiting = await eventually(
    'both instances of orders to wait for a debugger',
    { withinMs: START_MS, seen },
    async () => {
      // Nothing is to be waited for.
      if (child.exitCode !== null || child.signalCode !== null) return up.ended;
      const found = await orders();
      const wait = found.filter(({ reason = '' }) => reason.includes('waits for a debugger'));
      // Longer than readiness may take.
      const isLate = wait.every(({ startedAt = '' }) => Date.now() - Date.parse(startedAt) > 1_500);
      return wait.length === 2 && isLate && wait;
    },
  );
  if ('code' in waiting) return expect.fail(`up has ended with ${waiting.code}: ${waiting.stderr}`);
  expect(child.exitCode).toBe(null);
  expect(waiting.map(({ restarts, crashes }) => [restarts, crashes])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  const addresses = waiting.map(({ inspector }) => inspector as string);
  for (const address of addresses) expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  expect((await shell.run('status', ...PROJECT)).stdout).toContain(`orders-1: a debugger attaches to ${addresses[0]}`);

  const source = 'services/orders/src/routes.ts';
  const lines = (await readFile(join(cloneRoot(), source), 'utf8')).split('\n');
  const line = lines.findIndex((text) => text.includes('placeOrder(request.body'));
  const position = await positionOf(join(cloneRoot(), 'dist/services/orders.cjs'), source, line);
  const debuggers = await Promise.all(addresses.map((address) => attach(address)));
  for (const one of debuggers) {
    await one.send('Debugger.enable');
    await one.send('Debugger.setBreakpointByUrl', { urlRegex: 'dist/services/orders\\.cjs$', ...position });
    await one.send('Runtime.runIfWaitingForDebugger');
  }
  const ended = await up.ended;
  expect(ended.code, ended.stderr).toBe(0);
  for (const [index, address] of addresses.entries()) {
    expect(ended.stderr).toContain(`orders-${index + 1}: waits for a debugger on ${address}`);
  }
  const { gatewayUrl, endpoints } = JSON.parse(ended.stdout) as Up;
  expect(endpoints.filter(({ inspector }) => inspector !== undefined).map(({ name }) => name)).toEqual([
    'orders-1',
    'orders-2',
  ]);

  const body = JSON.stringify({ customer: 'seen by the debugger', lines: [{ productId: 1, quantity: 1 }] });
  const paused = Promise.any(
    debuggers.map(async (one) => ({ one, ...(await one.next<Paused>('Debugger.paused', PAUSE_MS)) })),
  );
  const order = place({ gatewayUrl }, { body });
  const { one, callFrames, hitBreakpoints } = await paused;
  expect(hitBreakpoints).toHaveLength(1);
  expect(await evaluate(one, callFrames[0]?.callFrameId, 'request.body.customer')).toBe('seen by the debugger');
  await one.send('Debugger.resume');
  expect(await order).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
  for (const each of debuggers) each.close();
});

it('the next up without it ends the waiting, and the service has no inspector', { timeout: 240_000 }, async () => {
  const up = await shell.run('up', 'gateway', '--direct', ...PROJECT);
  expect(up.code, up.stderr).toBe(0);
  expect((await orders()).map(({ inspector, status }) => ({ inspector, status }))).toEqual([
    { inspector: undefined, status: 'ready' },
    { inspector: undefined, status: 'ready' },
  ]);
});

it('a service that there is not cannot be inspected', async () => {
  const { code, stderr } = await shell.run('up', '--inspect', 'order', '--json', ...PROJECT);
  expect(code, stderr).toBe(2);
  expect(stderr).toContain('unknown_service');
});

interface Paused {
  readonly callFrames: readonly { readonly callFrameId: string }[];
  readonly hitBreakpoints: readonly string[];
}

async function evaluate(one: Debugger, callFrameId: string | undefined, expression: string): Promise<unknown> {
  const { result } = await one.send<{ result: { value: unknown } }>('Debugger.evaluateOnCallFrame', {
    callFrameId,
    expression,
  });
  return result.value;
}

describe('db', () => {
  const db = (...args: string[]) => shell.run('db', ...args, ...PROJECT);

  function piped(text: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const command = join(cloneRoot(), 'cli/bin/shopctl');
      const child = execFile(command, ['db', ...args, ...PROJECT], { env: shell.env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
      child.stdin?.end(text);
    });
  }

  it('runs statements, for people and for programs', async () => {
    const sql = "SELECT 1 AS one, NULL AS nothing; SELECT 'x' AS a, 'y' AS a";
    expect(await db('orders', '--command', sql)).toMatchObject({
      code: 0,
      stdout: 'one  nothing\n1    NULL\n(1 row)\n\na  a\nx  y\n(1 row)\n',
    });
    const { stdout } = await db('orders', '--command', sql, '--json');
    expect(JSON.parse(stdout)).toEqual([
      { command: 'SELECT', rowCount: 1, columns: ['one', 'nothing'], rows: [[1, null]] },
      { command: 'SELECT', rowCount: 1, columns: ['a', 'a'], rows: [['x', 'y']] },
    ]);
  });

  it('reads them from standard input, and wants some', async () => {
    const seven = await piped('SELECT 7 AS seven', 'catalog');
    expect(seven).toMatchObject({ code: 0, stdout: 'seven\n7\n(1 row)\n' });
    const nothing = await piped(' \n', 'catalog');
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no statement') });
  });

  it('writes nothing unless the account of the service is asked for', async () => {
    const write = ['orders', '--command', 'UPDATE outbox SET published_at = published_at'];
    const refused = await db(...write);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/read-only transaction \(SQLSTATE 25006\)(.|\n)*--role service/);
    const overridden = await db('orders', '--command', `SET TRANSACTION READ WRITE; ${write.at(-1)}`);
    expect(overridden).toMatchObject({ code: 1, stderr: expect.stringMatching(/42501(.|\n)*--role service/) });
    expect(await db(...write, '--role', 'service')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^UPDATE \d+\n$/),
    });
    const other = await db('catalog', '--role', 'service', '--command', 'DROP TABLE products');
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('42501') });
  });

  it('says what was wrong with a statement, and where', async () => {
    const { code, stderr } = await db('orders', '--command', 'SELEC 1', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'database_refused', why: expect.stringMatching(/syntax error.*42601, at character 1\)/) },
    });
  });
});
