import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { describe, expect, it } from 'vitest';
import { createQuerySpans } from './queries.ts';
import { seen, seeTelemetry } from './testing.ts';

const telemetry = seeTelemetry();
const queries = createQuerySpans('postgresql://orders:secret@127.0.0.1:6543/orders');
const server = {
  'db.system.name': 'postgresql',
  'db.namespace': 'orders',
  'server.address': '127.0.0.1',
  'server.port': 6543,
};

/** The error that PostgreSQL's client creates from a server's response. */
function aServerError(code: string) {
  return Object.assign(new Error('invalid input syntax: "Oksana"'), { name: 'error', code });
}

describe('a statement', () => {
  it.each([
    ['INSERT orders: started', 'WITH x AS (SELECT 1) INSERT INTO orders', 'INSERT orders', 'WITH'],
    ['UPDATE orders, INSERT outbox: confirm', 'UPDATE orders', 'UPDATE orders, INSERT outbox', 'UPDATE'],
    [undefined, ' begin;', 'BEGIN', 'BEGIN'],
  ])('%s has a span named after what stands before the colon', (name, text, summary, operation) => {
    telemetry.inParent(() => queries.start({ name, text })?.end());
    expect(telemetry.spans().map(seen)).toEqual([
      {
        name: summary,
        kind: SpanKind.CLIENT,
        error: false,
        attributes: {
          ...server,
          'db.query.summary': summary,
          'db.query.text': text,
          'db.operation.name': operation,
        },
      },
    ]);
  });

  it('is a child of the span it ran in, and its duration counts in the series of its database and verb', async () => {
    telemetry.inParent(() => queries.start({ text: 'COMMIT' })?.end());
    expect(telemetry.spans()[0]?.parentSpanContext).toBeDefined();
    expect(await telemetry.durations('db.client.operation.duration')).toContainEqual({
      attributes: { ...server, 'db.operation.name': 'COMMIT' },
      count: 1,
    });
  });

  it('that serves several requests has a span in the trace of each, which says how many they are, and counts once', async () => {
    const causes = [
      telemetry.inParent(() => context.active()),
      ROOT_CONTEXT,
      telemetry.inParent(() => context.active()),
    ];
    queries.start({ text: 'MERGE INTO outbox' }, causes)?.end();
    const spans = telemetry.spans();
    expect(spans.map(({ name, attributes }) => [name, attributes['shop.statement.spans']])).toEqual([
      ['MERGE', 2],
      ['MERGE', 2],
    ]);
    const parents = [causes[0], causes[2]].map((cause) => cause && trace.getSpanContext(cause)?.spanId);
    expect(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(parents);
    expect(await telemetry.durations('db.client.operation.duration')).toContainEqual({
      attributes: { ...server, 'db.operation.name': 'MERGE' },
      count: 1,
    });
  });

  it('that no request caused is not traced', () => {
    expect(queries.start({ text: 'SELECT 1' })).toBeUndefined();
  });

  it('whose tracing is suppressed has no span', () => {
    telemetry.inParent(() =>
      context.with(suppressTracing(context.active()), () => queries.start({ text: 'SELECT 1' })?.end()),
    );
    expect(telemetry.spans()).toEqual([]);
  });
});

describe('a statement that fails', () => {
  it('has the SQLSTATE and not the server’s message, which may quote values', async () => {
    telemetry.inParent(() => queries.start({ text: 'SELECT 1' })?.fail(aServerError('22P02')));
    const [span] = telemetry.spans();
    expect(span?.attributes).toMatchObject({ 'db.response.status_code': '22P02', 'error.type': '22P02' });
    expect(span?.status).toMatchObject({ code: 2, message: 'PostgreSQL error 22P02' });
    expect(span?.events).toMatchObject([
      { name: 'exception', attributes: { 'exception.message': 'PostgreSQL error 22P02' } },
    ]);
    expect(JSON.stringify([span?.status, span?.attributes, span?.events])).not.toContain('Oksana');
    const series = await telemetry.durations('db.client.operation.duration');
    expect(series.map(({ attributes }) => attributes['error.type'])).toContain('22P02');
  });

  it.each([
    ['a lost connection', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), 'ECONNRESET'],
    ['a time limit', new Error('Query read timeout'), 'UNKNOWN'],
  ])('by %s has no SQLSTATE', (_cause, error, type) => {
    telemetry.inParent(() => queries.start({ text: 'SELECT 1' })?.fail(error));
    expect(telemetry.spans()[0]?.attributes).toMatchObject({ 'error.type': type });
    expect(telemetry.spans()[0]?.attributes).not.toHaveProperty('db.response.status_code');
  });
});
