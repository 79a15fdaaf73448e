// Goal: however `up` or its supervisor ends, nothing is left running and the next `up` works.
// Method: signals at moments that are known from the command's own progress or by the state file.
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readState } from '../../cli/src/platform/state.ts';
import { openShell, type Running, type Shell } from './support/cli-run.ts';

let shell: Shell;
beforeEach(async () => {
  // The port that users have.
  shell = await openShell({ env: { SHOPCTL_PORT: '' } });
});
afterEach(() => shell.remove());

const LIMIT_MS = 30_000;
const nothingLeft = () => expect.poll(() => shell.processes(), { timeout: LIMIT_MS, interval: 100 }).toEqual([]);
const instances = async () => (await readState(shell.project().stateFile))?.instances ?? [];
const statusOf = async (name: string) => (await instances()).find((one) => one.name === name)?.status;

/** Resolves when the moment has come; throws with the command's output when it ended before. */
async function at(running: Running, moment: () => Promise<boolean> | boolean): Promise<void> {
  let over: string | undefined;
  void running.ended.then(({ code, stderr }) => {
    over = `ended with ${code}: ${stderr}`;
  });
  await expect
    .poll(async () => over ?? (await moment()), { timeout: LIMIT_MS, interval: 10, message: 'the moment to interrupt' })
    .toBe(true);
}

const moments = {
  immediately: () => shell.processes().length > 0,
  'when the supervisor is there': () => shell.sockets('shop').length > 0,
  'when the database starts': async () => (await statusOf('postgres')) === 'starting',
  'when services start': async () => (await statusOf('orders-1')) === 'starting',
};

describe.each([
  ['Ctrl-C', 'SIGINT', 130],
  ['SIGTERM', 'SIGTERM', 143],
  ['kill -9', 'SIGKILL', 137],
] as const)('%s during up', (_name, signal, code) => {
  it.each(Object.entries(moments))('%s leaves nothing running', async (_when, moment) => {
    const up = shell.start('up');
    await at(up, moment);
    process.kill(-(up.child.pid as number), signal);
    expect((await up.ended).code).toBe(code);
    await nothingLeft();
    expect(shell.sockets('shop')).toEqual([]);
  });
});

it('kill -9 of the supervisor and of its reaper leaves nothing after down, and up works again', async () => {
  expect((await shell.run('up', 'catalog')).code).toBe(0);
  const state = await readState(shell.project().stateFile);
  process.kill(state?.supervisor.pid as number, 'SIGKILL');
  await nothingLeft();
  expect((await shell.run('up', 'catalog')).code).toBe(0);
  const again = await readState(shell.project().stateFile);
  process.kill(again?.reaper?.pid as number, 'SIGKILL');
  process.kill(again?.supervisor.pid as number, 'SIGKILL');
  expect((await shell.run('down')).code).toBe(0);
  expect(shell.processes()).toEqual([]);
}, 120_000);

it('up with a name starts it and what it needs only; two projects run on separate ports, and one stops alone', async () => {
  const names = [[], ['--project', 'other']];
  const ups = await Promise.all(names.map((name) => shell.run('up', 'catalog', ...name, '--json')));
  expect(ups.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0]);
  for (const { stdout } of ups) {
    const { endpoints, gatewayUrl } = JSON.parse(stdout) as { endpoints: { name: string }[]; gatewayUrl: string };
    expect(endpoints.map(({ name }) => name).sort()).toEqual(['catalog-1', 'postgres', 'toxiproxy']);
    // It names no endpoint that is not there.
    expect(gatewayUrl).toBe('');
  }
  expect((await shell.run('down')).code).toBe(0);
  expect((await shell.run('status')).code).toBe(4);
  expect((await shell.run('status', '--project', 'other')).code).toBe(0);
}, 120_000);

it('takes another port for the gateway when 8080 is taken, and without proxies refuses an experiment that needs one', async () => {
  const blocker = await listenOn(8080);
  try {
    const { code, stdout } = await shell.run('up', '--direct', '--json');
    expect(code).toBe(0);
    const { gatewayUrl } = JSON.parse(stdout) as { gatewayUrl: string };
    expect(gatewayUrl).not.toContain(':8080');
    expect((await fetch(`${gatewayUrl}/health/ready`)).status).toBe(200);
  } finally {
    blocker?.close();
  }
  const { code, stderr } = await shell.run('chaos', 'run', 'E09');
  expect(code).toBe(3);
  expect(stderr).toContain('no proxy on orders-payments');
  // Before anything happens.
  expect(JSON.parse((await shell.run('chaos', 'runs', '--json')).stdout)).toEqual([]);
}, 120_000);

/** Undefined when another process has the port: then it is taken, as the test wants it. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
