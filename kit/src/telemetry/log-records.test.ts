/** Of a service that no OTLP receiver listens to. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { moduleAt, type Program, startProgram } from '../../../test/support/program.ts';

const START_MS = 20_000;

let service: Program;
let origin: string;

beforeAll(async () => {
  service = startProgram(
    `
    import { createHealth } from ${moduleAt('kit/src/health.ts')};
    import { createLogger } from ${moduleAt('kit/src/logger.ts')};
    import { createServer } from ${moduleAt('kit/src/server.ts')};
    import { DatabaseUnavailableError } from ${moduleAt('kit/src/failures.ts')};
    const logger = createLogger({ service: 'test', instance: 'test-1', level: 'debug' });
    const server = createServer({ logger, health: createHealth({}) });
    const later = () => new Promise((resolve) => setTimeout(resolve, 5));
    server.post('/fails', async () => { await later(); throw new Error('broken'); });
    server.get('/unavailable', async () => { await later(); throw new DatabaseUnavailableError('down'); });
    await server.listen({ host: '127.0.0.1', port: 0 });`,
    { preload: 'kit/src/telemetry/preload.ts' },
  );
  // Its last record before the first request: one that came later would be taken for a record of that.
  origin = await vi.waitFor(() => {
    const said = service.records().map(({ msg }) => /^Server listening at (\S+)$/.exec(String(msg))?.[1]);
    const address = said.find((one) => one !== undefined);
    if (address === undefined) throw new Error('it does not listen yet');
    return address;
  }, START_MS);
});

afterAll(() => service[Symbol.asyncDispose]());

it.each([
  ['an unexpected failure', 'POST', '/fails', ['unexpected failure', 'request completed']],
  ['an unavailable database', 'GET', '/unavailable', ['the database is unavailable', 'request completed']],
  ['a path without a route', 'GET', '/nowhere', ['request completed']],
])(
  '%s has one trace id: in its log records, in the problem and in the traceparent header',
  async (_, method, path, messages) => {
    const before = service.records().length;
    const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
    const response = await fetch(`${origin}${path}`, { method, ...body });
    const { traceId } = (await response.json()) as { traceId: string };
    expect(response.headers.get('traceparent')).toContain(`-${traceId}-`);
    const written = () => service.records().slice(before);
    await expect.poll(() => written().map(({ msg }) => msg)).toEqual(expect.arrayContaining(messages));
    expect(written().filter(({ trace_id }) => trace_id !== traceId)).toEqual([]);
  },
);

it('what never became a request has a separate trace id', async () => {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write('NOT HTTP\r\n\r\n');
  const response = await text(socket);
  const { traceId } = JSON.parse(response.slice(response.indexOf('{'))) as { traceId: string };
  const record = () => service.records().find(({ msg }) => msg === 'a broken request was rejected');
  await expect.poll(record).toMatchObject({ trace_id: traceId });
});
