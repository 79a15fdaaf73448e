import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createProgram } from '../main.ts';
import { createOutput } from '../output/output.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import { notRunning } from '../platform/control-client.ts';
import { projectFrom } from '../platform/project.ts';
import { ORDER_ID, TRACE_ID } from '../shop/testing/stories.ts';
import { register as registerDlq } from './dlq/command.ts';
import { register as registerExplain } from './explain/command.ts';
import { register as registerOrder } from './order/command.ts';
import { register as registerOutbox } from './outbox/command.ts';
import { register as registerSaga } from './saga/command.ts';

/** Runs a command line in this process against a connection, and keeps what it wrote. */
async function run(
  args: string[],
  connect: () => Promise<PlatformConnection> = async () => Promise.reject(notRunning()),
) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const output = createOutput({ stdout: stream('stdout'), stderr: stream('stderr'), env: {} });
  const deps = {
    output,
    env: {},
    signal: new AbortController().signal,
    onInterrupt: () => undefined,
    projectFrom: () => projectFrom({}, {}),
    connect,
  };
  const program = createProgram(deps, [registerOrder, registerSaga, registerOutbox, registerDlq, registerExplain]);
  program.hook('preAction', (_, action) => output.use(action.optsWithGlobals().json ? 'json' : 'text'));
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  }
  const failure = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: Error & { exitCode: number }) => error,
  );
  return { ...written, failure };
}

describe('usage', () => {
  it.each([
    ['order', 'get', 'not-an-id'],
    ['order', 'timeline', '12345'],
    ['saga', 'show', '../etc'],
    ['explain', 'xyz'],
    ['outbox', 'redrive'],
    ['outbox', 'redrive', 'b1c2d3', '--order', ORDER_ID],
    ['outbox', 'redrive', 'b1c2d3', '--unshipped', '10m'],
    ['outbox', 'redrive', '--order', ORDER_ID, '--unshipped', '10m'],
    ['outbox', 'redrive', 'nothex'],
    ['dlq', 'retry'],
    ['dlq', 'discard', 'b1c2d3', '--all'],
    ['dlq', 'discard', '--yes'],
    ['dlq', 'show', 'b1c2'],
    ['dlq', 'retry', 'with space'],
  ])('%s %s %s is refused with exit code 2 before the platform is asked', async (...args) => {
    expect((await run(args)).failure).toMatchObject({ name: 'CliError', exitCode: 2 });
  });

  it.each([
    [['order', '--product', 'honey']],
    [['order', '--product', '1:two']],
    [['order', '--timeout', '0']],
    [['order', 'list', '--status', 'Lost']],
    [['saga', 'ls', '--state', 'Lost']],
    [['order', 'cancel']],
    [['outbox', 'redrive', '--dead-letters']],
    [['outbox', 'redrive', '--unshipped', 'lately']],
    [['dlq', 'ls', '-n', '0']],
    [['dlq', 'show']],
  ])('%j is refused by the parser', async (args) => {
    expect((await run(args)).failure?.name).toMatch(/CommanderError|InvalidArgumentError/);
  });

  it.each([
    [['order']],
    [['order', 'get', ORDER_ID]],
    [['order', 'list']],
    [['order', 'timeline', ORDER_ID]],
    [['saga', 'ls']],
    [['saga', 'show', ORDER_ID]],
    [['outbox', 'ls']],
    [['outbox', 'redrive', '--order', ORDER_ID]],
    [['outbox', 'redrive', '--unshipped', '10m']],
    [['dlq', 'ls']],
    [['dlq', 'show', 'b1c2d3']],
    [['dlq', 'retry', '--all']],
    [['dlq', 'discard', 'b1c2d3']],
    [['explain', ORDER_ID]],
  ])('%j ends with 4 when the platform does not run', async (args) => {
    expect((await run(args)).failure).toMatchObject({ code: 'platform_not_running', what: 'platform not running' });
  });
});

describe('placing an order', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** A gateway that keeps what it is sent and gives one response. */
  async function gatewayRespondingWith(status: number, body: object) {
    const bodies: unknown[] = [];
    const started = createServer(async (incoming, response) => {
      bodies.push(JSON.parse((await incoming.toArray()).join('')));
      const traceparent = `00-${TRACE_ID}-1111111111111111-01`;
      response.writeHead(status, { traceparent, connection: 'close' }).end(JSON.stringify(body));
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    const gatewayUrl = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
    const connection = { gatewayUrl, telemetryUrl: '', state: { faults: [] as unknown } } as PlatformConnection;
    return { bodies, connect: async () => connection };
  }

  it('orders one of product 1 by default', async () => {
    const { bodies, connect } = await gatewayRespondingWith(201, { id: ORDER_ID, status: 'Confirmed' });
    const { failure, stdout } = await run(['order', '--no-trace'], connect);
    expect(failure).toBeUndefined();
    expect(bodies).toEqual([{ customer: 'Demo customer', lines: [{ productId: 1, quantity: 1 }] }]);
    expect(stdout).toMatch(
      new RegExp(`^Confirmed \\(HTTP 201, \\d+ ms\\)\\norder ${ORDER_ID}\\ntrace ${TRACE_ID}\\n$`),
    );
  });

  it('gives each product its quantity, or that of --quantity', async () => {
    const { bodies, connect } = await gatewayRespondingWith(201, { id: ORDER_ID, status: 'Confirmed' });
    await run(['order', 'place', '--product', '2:3', '--product', '5', '-q', '7', '--no-trace'], connect);
    expect(bodies).toMatchObject([
      {
        lines: [
          { productId: 2, quantity: 3 },
          { productId: 5, quantity: 7 },
        ],
      },
    ]);
  });

  it('a cancelled order is a response, not a failure; the customer is not shown', async () => {
    const { connect } = await gatewayRespondingWith(200, {
      id: ORDER_ID,
      status: 'Cancelled',
      reason: 'payment declined',
    });
    const { failure, stdout, stderr } = await run(['order', '--customer', 'Marker', '--no-trace', '--json'], connect);
    expect(failure).toBeUndefined();
    expect(JSON.parse(stdout)).toMatchObject({
      id: ORDER_ID,
      status: 'Cancelled',
      reason: 'payment declined',
      traceId: TRACE_ID,
      replayed: false,
      trace: null,
    });
    expect(stdout + stderr).not.toContain('Marker');
  });

  it('a problem is a failure with its code and trace', async () => {
    const problem = {
      type: 'x',
      title: 'No such product',
      status: 422,
      detail: 'no product 99',
      code: 'unknown_product',
    };
    const { connect } = await gatewayRespondingWith(422, problem);
    const { failure, stdout } = await run(['order', '--product', '99', '--no-trace'], connect);
    expect(failure).toMatchObject({ code: 'service_problem', what: expect.stringContaining('unknown_product') });
    expect(failure?.message).toContain(TRACE_ID);
    expect(stdout).toBe('');
  });

  it('a trace that cannot be read does not undo the response', async () => {
    const { connect } = await gatewayRespondingWith(201, { id: ORDER_ID, status: 'Confirmed' });
    const noTelemetry = async () => ({ ...(await connect()), telemetryUrl: 'http://127.0.0.1:1' });
    const { failure, stderr } = await run(['order', '--timeout', '1'], noTelemetry);
    expect(failure).toBeUndefined();
    expect(stderr).toContain('its trace cannot be shown');
  });
});
