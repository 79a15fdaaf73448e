import { expect, it } from 'vitest';
import { seeTelemetry } from './spans/testing.ts';
import { inSpan } from './tracing.ts';

const telemetry = seeTelemetry();

async function failing(error: Error) {
  await expect(inSpan('step', {}, () => Promise.reject(error))).rejects.toThrow(error);
  const [span] = telemetry.spans();
  return { status: span?.status.message, event: span?.events[0]?.attributes };
}

it('a step that PostgreSQL fails has the code of its error, and not the message, which may quote values', async () => {
  const error = Object.assign(new Error('invalid input syntax: "Oksana"'), { severity: 'ERROR', code: '22P02' });
  const { status, event } = await failing(error);
  expect(status).toBe('PostgreSQL error 22P02');
  expect(event).toMatchObject({ 'exception.message': 'PostgreSQL error 22P02' });
  expect(JSON.stringify(event)).not.toContain('Oksana');
});

it('an error without frames is recorded by its name and message', async () => {
  const error = new Error('no time is left');
  error.stack = 'Error: no time is left';
  expect(await failing(error)).toMatchObject({
    status: 'no time is left',
    event: { 'exception.stacktrace': 'Error: no time is left' },
  });
});
